// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether this process has not run for a while: stopped, swapped out, its machine frozen. What it
 * knows is of before then, and it can not know better until it has heard of Kafka again. {@link
 * #beat} is for one thread, the rest for any.
 */
final class Standstill {

  /** Without a beat for so long it stood still. */
  static final long MISSED_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** After that time all is as always, caught up or not: Kafka may be away as well. */
  static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final LongSupplier nanoTime;
  private volatile long beatNs;
  private volatile long untilNs;

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  Standstill(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    beatNs = nanoTime.getAsLong();
    untilNs = beatNs;
  }

  /** The process runs; called several times a second. */
  void beat() {
    long now = nanoTime.getAsLong();
    if (now - beatNs > MISSED_NANOS) {
      untilNs = now + LATELY_NANOS;
    }
    beatNs = now;
  }

  /** Whether it stood still until a moment ago. */
  boolean lately() {
    long now = nanoTime.getAsLong();
    // Who asks may be sooner than the next beat.
    return untilNs - now > 0 || now - beatNs > MISSED_NANOS;
  }
}
