// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Keeps two engines that publish under one registration from claiming lives in turn as fast as they
 * send: no engine restarts that often. For its loop's thread only.
 */
final class NewLifeBrake {

  /** New lives within a minute that are taken for what they seem. */
  static final int FREE = 200;

  private static final long WINDOW_NS = TimeUnit.MINUTES.toNanos(1);
  private static final Duration PAUSE = Duration.ofSeconds(5);

  // Bounded: what is beyond the free ones comes at most once a pause.
  private final Deque<Long> begun = new ArrayDeque<>();

  /** A life began at that {@link System#nanoTime}: how long to wait before it is followed. */
  Duration pauseAfter(long nowNs) {
    while (!begun.isEmpty() && nowNs - begun.peekFirst() > WINDOW_NS) {
      begun.removeFirst();
    }
    begun.addLast(nowNs);
    return begun.size() > FREE ? PAUSE : Duration.ZERO;
  }
}
