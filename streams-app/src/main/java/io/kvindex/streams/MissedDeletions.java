// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.topology.IndexTopology;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Notices that rows of a running replica did not follow their changelog for longer than deletions
 * are sure to stay in it: cut off from Kafka, or standing still, while the others went on. Read on
 * from where they are, such rows would claim blocks that are long gone. What {@link LocalState}
 * looks at when a replica starts. For one thread.
 *
 * <p>While Kafka is away as a whole nothing is deleted either: rows are suspect only if the
 * changelog has older records than that which they lack.
 */
final class MissedDeletions {

  /** Half of it, since reading up to where the others are takes time too. */
  static final Duration LONGEST_ABSENCE = IndexTopology.TOMBSTONES_KEPT.dividedBy(2);

  /** The last offset of a changelog is its last transaction's marker, which is no row. */
  private static final long COMMIT_MARKER = 1;

  /** Asks a changelog. */
  interface Changelog {

    /**
     * Looks a time up.
     *
     * @return offset of the first record that is not older than {@code time}, or the end if there
     *     is none
     */
    long firstSince(int partition, Instant time);
  }

  /**
   * @param until everything written before was read
   * @param position offset up to which rows are sure to lack nothing
   */
  private record Followed(Instant until, long position) {}

  private final Changelog changelog;
  private final BiConsumer<Integer, Duration> missed;
  private final Map<Integer, Followed> followed = new HashMap<>();

  /** Where changelogs ended at some look, which their rows have yet to come to. */
  private final Map<Integer, Followed> goals = new HashMap<>();

  /**
   * @param missed told the partition, and for how long its rows did not follow
   */
  MissedDeletions(Changelog changelog, BiConsumer<Integer, Duration> missed) {
    this.changelog = changelog;
    this.missed = missed;
  }

  /**
   * Notes how far a copy has come, whether Kafka answers or not: what was read soon after all was
   * known to be read was read in time.
   *
   * @param position offset behind the last row read
   */
  void reached(int partition, long position, Instant now) {
    followed.computeIfPresent(
        partition,
        (same, last) ->
            isLong(last, now) || position < last.position()
                ? last
                : new Followed(last.until(), position));
  }

  /**
   * Looks at a partition of which this replica has a copy, or has just had one: whoever kept a copy
   * goes on from it, also where the partition is its own now.
   *
   * @param position offset behind the last row read
   * @param end of the changelog now
   */
  void ofCopy(int partition, long position, long end, Instant now) {
    if (hasMissed(partition, now)) {
      return;
    }
    Followed goal = goals.get(partition);
    if (goal == null) {
      goals.put(partition, new Followed(now, end));
    } else if (position + COMMIT_MARKER >= goal.position()) {
      followed.put(partition, new Followed(goal.until(), Math.max(position, goal.position())));
      goals.put(partition, new Followed(now, end));
    }
  }

  /** The same for one that is not a copy, or not any more. */
  void ofOther(int partition, Instant now) {
    if (!hasMissed(partition, now)) {
      forget(partition);
    }
  }

  private boolean hasMissed(int partition, Instant now) {
    Followed last = followed.get(partition);
    if (last == null || !isLong(last, now)) {
      return false;
    }
    long young = changelog.firstSince(partition, now.minus(LONGEST_ABSENCE));
    if (young <= last.position() + COMMIT_MARKER) {
      return false;
    }
    forget(partition);
    missed.accept(partition, Duration.between(last.until(), now));
    return true;
  }

  private static boolean isLong(Followed last, Instant now) {
    return Duration.between(last.until(), now).compareTo(LONGEST_ABSENCE) > 0;
  }

  private void forget(int partition) {
    followed.remove(partition);
    goals.remove(partition);
  }
}
