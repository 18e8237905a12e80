// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

/** What becomes of a publisher's blocks once events of it are lost for good. */
public enum GapPolicy {
  /** They stay, and answers name the instance as degraded: some may be gone, some be missing. */
  KEEP,
  /**
   * They go, as if it had cleared its cache: nothing is promised that is gone, but hits are lost.
   */
  RESET
}
