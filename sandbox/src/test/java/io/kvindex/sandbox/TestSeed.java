// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox;

/**
 * Where the random numbers of a test begin: elsewhere each time, and said, so as to be repeated.
 */
public final class TestSeed {

  private static final String PROPERTY = "kvindex.test.seed";

  private TestSeed() {}

  /** The seed given by {@code -Dkvindex.test.seed}, else a new one; prints it. */
  public static long of(Class<?> test) {
    long seed = Long.getLong(PROPERTY, System.nanoTime());
    System.out.println(test.getSimpleName() + " -D" + PROPERTY + "=" + seed);
    return seed;
  }
}
