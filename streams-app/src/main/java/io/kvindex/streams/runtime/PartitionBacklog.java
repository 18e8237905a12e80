// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How far one partition is behind the log, by repeated looks at the log's end. The looks say how
 * old what waits is: what was in the log at an earlier look and is not applied yet has waited since
 * then at least. While nobody can look, everything may wait, and what is found after that may have
 * waited all that time. Written by one thread, read by any.
 */
public final class PartitionBacklog {

  /** More records than this behind is far behind, however fast they came. */
  static final long MAX_RECORDS = 10_000;

  /** Of those no more than this is close to it. */
  static final long CLOSE_RECORDS = 1_000;

  /** What {@link #records} says before the first look. */
  public static final long UNKNOWN = -1;

  /**
   * Looks remembered, at five a second. Beyond that the oldest still tells the age, and those left
   * out can only make the age of what comes after it look smaller.
   */
  private static final int MAX_LOOKS = 256;

  private record Look(long end, long nanos) {}

  /**
   * What was found at the last look.
   *
   * @param caughtUp whether all was applied that the log held at the first look
   * @param wasClose whether it was close to the log's end once since then
   * @param waits whether anything waits
   * @param sinceNanos since when at least, or when the look was where nothing waits
   */
  private record Found(
      long done,
      long total,
      long records,
      boolean caughtUp,
      boolean wasClose,
      boolean waits,
      long sinceNanos) {}

  private static final Found NOTHING = new Found(0, 0, UNKNOWN, false, false, false, 0);

  private final long maxLagNanos;
  private final Deque<Look> looks = new ArrayDeque<>();
  private long firstFrom;
  private long lastFrom;
  private long firstEnd = UNKNOWN;
  private long lookedNanos;
  private volatile Found found = NOTHING;

  /**
   * @param maxLag a record that waits longer is far behind, and so is a log nobody could look at
   *     for longer
   */
  PartitionBacklog(Duration maxLag) {
    maxLagNanos = maxLag.toNanos();
  }

  /**
   * Takes in a look at the log.
   *
   * @param end the log's end
   * @param from the first record not applied, at most {@code end} or a little beyond it
   * @param nanos when, as of {@link System#nanoTime}
   */
  void note(long end, long from, long nanos) {
    // After a time nobody could look, what is new may have come right behind the look before.
    boolean unseen = firstEnd != UNKNOWN && nanos - lookedNanos > maxLagNanos;
    long cameNanos = unseen ? lookedNanos : nanos;
    lookedNanos = nanos;
    // What seemed applied, by another's word, is not: rows were lost, and the log is read again.
    boolean again = firstEnd != UNKNOWN && from < lastFrom;
    lastFrom = from;
    if (firstEnd == UNKNOWN || again) {
      firstEnd = end;
      firstFrom = from;
    }
    while (!looks.isEmpty() && looks.getFirst().end() <= from) {
      looks.removeFirst();
    }
    // A log that lost its end, with the machine that had it, never comes to what was seen in it.
    Look gone = null;
    while (!looks.isEmpty() && looks.getLast().end() > end) {
      gone = looks.removeLast();
    }
    if (gone != null && end > (looks.isEmpty() ? from : looks.getLast().end())) {
      looks.addLast(new Look(end, gone.nanos()));
    }
    firstEnd = Math.min(firstEnd, end);
    boolean grown = looks.isEmpty() ? end > from : end > looks.getLast().end();
    if (grown && looks.size() < MAX_LOOKS) {
      looks.addLast(new Look(end, cameNanos));
    }
    boolean caughtUp = found.caughtUp() && !again || from >= firstEnd;
    found =
        new Found(
            Math.max(0, from - firstFrom),
            Math.max(0, end - firstFrom),
            Math.max(0, end - from),
            caughtUp,
            caughtUp && (found.wasClose() && !again || end - from <= CLOSE_RECORDS),
            !looks.isEmpty(),
            looks.isEmpty() ? nanos : looks.getFirst().nanos());
  }

  /** There is no table any more; the next one begins anew. */
  void forget() {
    looks.clear();
    firstEnd = UNKNOWN;
    found = NOTHING;
  }

  /** Records behind at the last look, {@link #UNKNOWN} = there was none yet. */
  public long records() {
    return found.records();
  }

  /** Records applied since the first look. */
  public long done() {
    return found.done();
  }

  /** Records to be applied since the first look. */
  public long total() {
    return found.total();
  }

  /** Whether all was applied that the log held at the first look. */
  boolean caughtUp() {
    return found.caughtUp();
  }

  /**
   * Whether it was close to the log's end once since it caught up. However far it falls behind
   * later, as all replicas do together when Kafka was away: what they tell is told as stale.
   */
  public boolean wasClose() {
    return found.wasClose();
  }

  /** Whether it is caught up and close behind the log's end. */
  public boolean keepsUp(long nanos) {
    Found last = found;
    return last.caughtUp()
        && last.records() <= MAX_RECORDS
        && nanos - last.sinceNanos() <= maxLagNanos;
  }

  /**
   * How long what is not applied may have waited; 0 if nothing is known to wait and the log was
   * looked at in time.
   */
  public long ageNanos(long nanos) {
    Found last = found;
    long age = Math.max(0, nanos - last.sinceNanos());
    boolean unknown = last.records() == UNKNOWN;
    return unknown || (!last.waits() && age <= maxLagNanos) ? 0 : age;
  }
}
