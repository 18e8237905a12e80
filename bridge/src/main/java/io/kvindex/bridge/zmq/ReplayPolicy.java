// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.time.Duration;

/**
 * How hard a replay is tried.
 *
 * @param threads replays read at the same time, >= 2: one of them of endpoints that fell silent
 *     before
 * @param answerTimeout longest wait for the next message of an answer; engines need up to 100 ms
 * @param attempts attempts without any progress before it is given up, >= 1
 * @param holeAttempts attempts that end at the same hole before it is taken for one of the engine's
 * @param totalAttempts attempts altogether, progress or not, before holes are taken as they are
 * @param backoff pause before the second attempt, doubled for each further one
 */
public record ReplayPolicy(
    int threads,
    Duration answerTimeout,
    int attempts,
    int holeAttempts,
    int totalAttempts,
    Duration backoff) {

  /** Fits engines on a local network. */
  public static final ReplayPolicy DEFAULT =
      new ReplayPolicy(4, Duration.ofSeconds(3), 3, 6, 1_000, Duration.ofMillis(200));

  /** Pause before the attempt after {@code failures} fruitless ones, at most 5 s. */
  Duration pauseAfter(int failures) {
    long factor = 1L << Math.min(10, Math.max(0, failures - 1));
    return Duration.ofMillis(Math.min(5_000, backoff.toMillis() * factor));
  }
}
