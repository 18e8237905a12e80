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

  /** What {@link Found#records} says before the first look. */
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
   * @param done records applied since the first look
   * @param total records to be applied since then
   * @param records records behind, {@link #UNKNOWN} = nobody has looked yet
   * @param caughtUp whether all was applied that the log held at the first look
   * @param wasClose whether it was close to the log's end once since then. However far it falls
   *     behind later, as all replicas do together when Kafka was away: what they tell is told as
   *     stale
   * @param waits whether anything waits
   * @param sinceNanos since when at least, or when the look was where nothing waits
   * @param maxLagNanos a record that waits longer is far behind, and so is a log nobody could look
   *     at for longer
   */
  public record Found(
      long done,
      long total,
      long records,
      boolean caughtUp,
      boolean wasClose,
      boolean waits,
      long sinceNanos,
      long maxLagNanos) {

    /** Whether it is caught up and close behind the log's end. */
    public boolean keepsUp(long nanos) {
      return caughtUp && records <= MAX_RECORDS && nanos - sinceNanos <= maxLagNanos;
    }

    /**
     * How long what is not applied may have waited; 0 if nothing is known to wait and the log was
     * looked at in time.
     */
    public long ageNanos(long nanos) {
      long age = Math.max(0, nanos - sinceNanos);
      return records == UNKNOWN || !waits && age <= maxLagNanos ? 0 : age;
    }
  }

  private final long maxLagNanos;
  private final Deque<Look> looks = new ArrayDeque<>();
  private long firstFrom;
  private long lastFrom;
  private long firstEnd = UNKNOWN;
  private long lookedNanos;
  private volatile Found found;

  PartitionBacklog(Duration maxLag) {
    maxLagNanos = maxLag.toNanos();
    found = nothing();
  }

  private Found nothing() {
    return new Found(0, 0, UNKNOWN, false, false, false, 0, maxLagNanos);
  }

  /** What was found at the last look. Any thread. */
  Found found() {
    return found;
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
            looks.isEmpty() ? nanos : looks.getFirst().nanos(),
            maxLagNanos);
  }

  /** There is no table any more; the next one begins anew. */
  void forget() {
    looks.clear();
    firstEnd = UNKNOWN;
    found = nothing();
  }
}
