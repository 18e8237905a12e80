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

  /**
   * Who stood still for so long has answers that are of no use to anybody: the others have missed
   * him by then, and may know more.
   */
  static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** For so long afterwards what others do not say in time is better not said. */
  static final long AWAKENING_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LongSupplier nanoTime;
  private volatile long beatNs;
  private volatile long untilNs;
  private volatile long awakeNs;

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  Standstill(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    beatNs = nanoTime.getAsLong();
    untilNs = beatNs;
    awakeNs = beatNs;
  }

  /** The process runs; called several times a second. */
  void beat() {
    long now = nanoTime.getAsLong();
    if (now - beatNs > MISSED_NANOS) {
      untilNs = now + LATELY_NANOS;
    }
    if (now - beatNs > LONG_NANOS) {
      awakeNs = now + AWAKENING_NANOS;
    }
    beatNs = now;
  }

  /** Whether it stood still until a moment ago. */
  boolean lately() {
    long now = nanoTime.getAsLong();
    // Who asks may be sooner than the next beat.
    return untilNs - now > 0 || now - beatNs > MISSED_NANOS;
  }

  /** Whether it has just gone on, and stood still for so long that its own answers are too old. */
  boolean isAwakening() {
    long now = nanoTime.getAsLong();
    return awakeNs - now > 0 || now - beatNs > LONG_NANOS;
  }
}
