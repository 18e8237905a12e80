// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.zmq.Replays;
import java.time.Duration;

/** Runs small steps after a pause, and then has the follower look. Any thread. */
final class Later {

  private final Replays timer;
  private final Runnable changed;

  /**
   * @param changed told, by any thread, that a step was run
   */
  Later(Replays timer, Runnable changed) {
    this.timer = timer;
    this.changed = changed;
  }

  /** Any thread runs the step. */
  void run(Runnable step, Duration pause) {
    timer.later(
        () -> {
          step.run();
          changed.run();
        },
        pause);
  }
}
