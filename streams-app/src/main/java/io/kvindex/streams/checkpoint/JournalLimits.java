// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.time.Duration;

/**
 * How much a journal may have. A change takes about 70 bytes while it waits; there are two
 * journals, and each may have twice as many before the fold waits.
 *
 * @param changes after so many the next checkpoint is due, 1 at least
 * @param interval after so long it is, if anything was folded
 * @param longestWait of the fold for the disk; journalling stops then
 */
public record JournalLimits(int changes, Duration interval, Duration longestWait) {

  /** For a process with one partition. */
  public static final JournalLimits DEFAULT =
      new JournalLimits(500_000, Duration.ofSeconds(10), Duration.ofMinutes(1));

  /** Checks the ranges. */
  public JournalLimits {
    if (changes < 1 || interval.isNegative() || longestWait.isNegative()) {
      throw new IllegalArgumentException("limits of a journal: " + changes + " " + interval);
    }
  }

  /** Changes at which the fold waits. */
  long full() {
    return 2L * changes;
  }
}
