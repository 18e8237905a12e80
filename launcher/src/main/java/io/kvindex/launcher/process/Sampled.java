// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A figure every query states and that takes a look at each publisher to find: taken anew when it
 * is {@value #KEPT_MS} ms old. Any thread; two at a time may both take it, which harms nobody.
 */
final class Sampled implements LongSupplier {

  private static final long KEPT_MS = 5;
  private static final long KEPT_NS = TimeUnit.MILLISECONDS.toNanos(KEPT_MS);

  private record Sample(long takenNs, long value) {}

  private final LongSupplier figure;
  private volatile Sample sample;

  Sampled(LongSupplier figure) {
    this.figure = figure;
    sample = new Sample(System.nanoTime(), figure.getAsLong());
  }

  @Override
  public long getAsLong() {
    Sample last = sample;
    long now = System.nanoTime();
    if (now - last.takenNs() < KEPT_NS) {
      return last.value();
    }
    long value = figure.getAsLong();
    sample = new Sample(now, value);
    return value;
  }
}
