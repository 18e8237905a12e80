// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import java.util.Locale;

/** What became of a hole between two batches; each found ends in one of the others. */
public enum GapResult {
  /** A hole was met. */
  FOUND,
  /** A replay brought what was missing. */
  FILLED,
  /** Nobody has it: a gap for good. */
  LOST,
  /** Its life ended first, and with it what the hole was about. */
  MOOT;

  /** Name in metrics and progress records. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
