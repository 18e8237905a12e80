// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

/**
 * Latencies in ns, kept in buckets at most 1.6 % wide (64 steps per power of two), so that
 * recording allocates nothing. One thread records; reading from another needs a happens-before of
 * its own.
 */
final class Histogram {
  private static final int STEP_BITS = 6;
  private static final int STEPS = 1 << STEP_BITS;

  private final long[] counts = new long[(64 - STEP_BITS + 1) * STEPS];
  private long total;
  private long max;

  void record(long nanos) {
    long value = Math.max(0, nanos);
    counts[bucket(value)]++;
    total++;
    max = Math.max(max, value);
  }

  private static int bucket(long value) {
    if (value < STEPS) {
      return (int) value;
    }
    int shift = 63 - Long.numberOfLeadingZeros(value) - STEP_BITS;
    return (shift + 1) * STEPS + (int) (value >>> shift) - STEPS;
  }

  /** Upper edge of the bucket that holds this share of the recorded values; 0 when empty. */
  long quantile(double share) {
    long wanted = (long) Math.ceil(share * total);
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen >= wanted && seen > 0) {
        return Math.min(max, upperEdge(i));
      }
    }
    return max;
  }

  private static long upperEdge(int bucket) {
    if (bucket < STEPS) {
      return bucket;
    }
    int shift = bucket / STEPS - 1;
    return ((long) (bucket % STEPS + STEPS + 1) << shift) - 1;
  }

  long total() {
    return total;
  }

  long max() {
    return max;
  }
}
