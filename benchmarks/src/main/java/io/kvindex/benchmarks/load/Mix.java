// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

/** Numbers that look random and depend on their arguments only (SplitMix64's finaliser). */
final class Mix {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix() {}

  static long of(long a) {
    long z = a + GOLDEN;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  static long of(long a, long b) {
    return of(of(a) ^ b);
  }

  /** In 0 until {@code bound}. */
  static int below(int bound, long number) {
    return (int) Math.floorMod(number, (long) bound);
  }
}
