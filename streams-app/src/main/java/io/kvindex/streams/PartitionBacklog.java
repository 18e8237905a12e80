// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * How far one partition is behind the log, by repeated looks at the log's end. The looks say how
 * old what waits is: what was in the log at an earlier look and is not applied yet has waited since
 * then at least. Written by one thread, read by any.
 */
final class PartitionBacklog {

  /** More records than this behind is far behind, however fast they came. */
  static final long MAX_RECORDS = 10_000;

  /** A record that waits longer than this is far behind, however few there are. */
  static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  static final long UNKNOWN = -1;

  /**
   * Looks remembered, at five a second. Beyond that the oldest still tells the age, and those left
   * out can only make the age of what comes after it look smaller.
   */
  private static final int MAX_LOOKS = 256;

  private record Look(long end, long nanos) {}

  private final Deque<Look> looks = new ArrayDeque<>();
  private long firstEnd = UNKNOWN;
  private long lastNanos;
  private volatile long records = UNKNOWN;
  private volatile boolean caughtUp;
  private volatile boolean keepsUp;

  /**
   * Takes in a look at the log.
   *
   * @param end the log's end
   * @param from the first record not applied, at most {@code end} or a little beyond it
   * @param nanos when, as of {@link System#nanoTime}
   */
  void note(long end, long from, long nanos) {
    lastNanos = nanos;
    records = Math.max(0, end - from);
    if (firstEnd == UNKNOWN) {
      firstEnd = end;
    }
    caughtUp |= from >= firstEnd;
    while (!looks.isEmpty() && looks.getFirst().end() <= from) {
      looks.removeFirst();
    }
    boolean grown = looks.isEmpty() ? end > from : end > looks.getLast().end();
    if (grown && looks.size() < MAX_LOOKS) {
      looks.addLast(new Look(end, nanos));
    }
    boolean waits = !looks.isEmpty() && nanos - looks.getFirst().nanos() > MAX_WAIT_NANOS;
    keepsUp = caughtUp && !waits && end - from <= MAX_RECORDS;
  }

  /** Says that the log could not be looked at: it may hold more than was seen. */
  void unseen(long nanos) {
    if (nanos - lastNanos > MAX_WAIT_NANOS) {
      keepsUp = false;
    }
  }

  /** Records behind at the last look, {@link #UNKNOWN} = there was none yet. */
  long records() {
    return records;
  }

  /** Whether all was applied that the log held at the first look. */
  boolean caughtUp() {
    return caughtUp;
  }

  /** Whether it is caught up and close behind the log's end. */
  boolean keepsUp() {
    return keepsUp;
  }
}
