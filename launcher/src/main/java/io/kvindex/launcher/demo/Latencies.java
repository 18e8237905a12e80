// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import java.util.Arrays;

/** Measured times, for exact percentiles of a bounded run. Thread-safe. */
public final class Latencies {

  private long[] nanos = new long[1024];
  private int size;

  /** One more. */
  public synchronized void add(long durationNs) {
    if (size == nanos.length) {
      nanos = Arrays.copyOf(nanos, size * 2);
    }
    nanos[size++] = durationNs;
  }

  /** How many there are. */
  public synchronized int count() {
    return size;
  }

  /**
   * The time in milliseconds that {@code share} (0..1) of the measurements do not exceed; 0 without
   * any.
   */
  public synchronized double percentileMs(double share) {
    if (size == 0) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(nanos, size);
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(share * size) - 1;
    return sorted[Math.max(0, Math.min(size - 1, rank))] / 1e6;
  }
}
