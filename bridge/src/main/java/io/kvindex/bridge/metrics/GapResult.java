// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

/** What became of a hole between two batches; each found ends in one of the others. */
public enum GapResult implements Labelled {
  /** A hole was met. */
  FOUND,
  /** A replay brought what was missing. */
  FILLED,
  /** Nobody has it: a gap for good. */
  LOST,
  /** Its life ended first, and with it what the hole was about. */
  MOOT;
}
