// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.time.Duration;

/**
 * Whether anybody may come back to a former application's table. A replica that stands still, or is
 * cut off from Kafka, is out of its group after some seconds and wants its table all the same. So
 * an empty group counts at once only if as many replicas as were ever seen say that they answer
 * from the next table; else it has to stay empty for longer than a replica may be away. For one
 * thread.
 */
final class Departure {

  /** Twenty times the six seconds after which a silent replica is out of its group. */
  static final Duration HOLD = Duration.ofMinutes(2);

  private int replicas;
  private boolean empty;
  private long sinceNanos;

  /**
   * @param replicas that had the table when nobody had reason to leave it yet
   */
  Departure(int replicas) {
    this.replicas = replicas;
  }

  /** Replicas that were ever seen with the table at a time. */
  int replicas() {
    return replicas;
  }

  /** Some are in the group. */
  void present(int processes) {
    replicas = Math.max(replicas, processes);
    empty = false;
  }

  /** Nobody can tell. */
  void unknown() {
    empty = false;
  }

  /**
   * Nobody is in the group; whether nobody will be.
   *
   * @param changed replicas that say that they answer from the next table
   * @param nowNanos as of {@link System#nanoTime}
   */
  boolean isOver(int changed, long nowNanos) {
    if (!empty) {
      empty = true;
      sinceNanos = nowNanos;
    }
    return changed >= replicas || nowNanos - sinceNanos >= HOLD.toNanos();
  }
}
