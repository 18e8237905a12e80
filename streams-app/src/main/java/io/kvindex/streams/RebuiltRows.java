// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells of local rows that are thrown away, to be built anew, and counts them. Thread-safe. */
final class RebuiltRows {

  private static final Logger LOG = LoggerFactory.getLogger(RebuiltRows.class);

  /** Why rows are thrown away. */
  enum Reason {
    TOO_OLD,
    NOT_THIS_CHANGELOG,
    DAMAGED,
    /** The process that had them was killed, and nothing was saved of them. */
    LEFT_OPEN;

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final MeterRegistry metrics;

  RebuiltRows(MeterRegistry metrics) {
    this.metrics = metrics;
    for (Reason reason : Reason.values()) {
      count(reason, 0);
    }
  }

  void count(Reason reason, int partitions) {
    metrics.counter("kvindex.local.rows.discarded", "reason", reason.label()).increment(partitions);
  }

  /** Those of one partition were, while the replica runs. */
  void damagedWhileRunning() {
    count(Reason.DAMAGED, 1);
  }

  /** Those of one partition will be, as they have not followed the changelog while it runs. */
  void outdatedWhileRunning(int partition, Duration away) {
    LOG.warn(
        "rows of partition {} have not followed the log for {} minutes, more than {}: they are"
            + " built anew from the changelog",
        partition,
        away.toMinutes(),
        MissedDeletions.LONGEST_ABSENCE.toMinutes());
    count(Reason.TOO_OLD, 1);
  }

  /**
   * Those of some partitions will be, as they turned out to be of another changelog while it runs.
   * Whose they are stays written down: if it ends before that, the next start finds the same.
   */
  void strangersWhileRunning(String why, int partitions) {
    LOG.warn("local rows can not be used: {}; they are built anew from the changelog", why);
    count(Reason.NOT_THIS_CHANGELOG, partitions);
  }

  /** Those of one partition will be, as they are of more than its changelog holds. */
  void aheadWhileRunning(int partition, long next, long end) {
    LOG.warn(
        "rows of partition {} go on at offset {} of the changelog, which ends at {}: it is another"
            + " one or lost its end; they are built anew from it, and what it lacks from the log",
        partition,
        next,
        end);
    count(Reason.NOT_THIS_CHANGELOG, 1);
  }
}
