// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import java.time.Duration;

/**
 * For how long this bridge may take its share of the publishers for its own. A process that was
 * stopped and goes on believes so though its group has long given the share to others; what it
 * claimed then would only make those claim again. Thread-safe.
 */
final class Lease {

  private final long lengthNs;
  private volatile long renewedNs = System.nanoTime();

  /**
   * @param length after how much silence the group thinks a member dead
   */
  Lease(Duration length) {
    lengthNs = length.toNanos();
  }

  /** Longest wait for one answer of Kafka's: half of it, so that waiting does not lose it. */
  Duration call() {
    return Duration.ofNanos(lengthNs / 2);
  }

  /** The control thread is alive. */
  void renew() {
    renewedNs = System.nanoTime();
  }

  /** Whether it was alive recently enough. */
  boolean isHeld() {
    return System.nanoTime() - renewedNs < lengthNs;
  }
}
