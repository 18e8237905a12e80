// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.util.Random;

/**
 * How many inputs a test tries, and which: {@code -Dfuzz.inputs=1000000} makes each try that many,
 * {@code -Dfuzz.seed=N}, as printed, repeats a run.
 */
final class FuzzInputs {
  final int count;
  final Random random;

  private FuzzInputs(int count, long seed) {
    this.count = count;
    random = new Random(seed);
  }

  static FuzzInputs of(Class<?> test, int usual) {
    int count = Integer.getInteger("fuzz.inputs", usual);
    long seed = Long.getLong("fuzz.seed", System.nanoTime());
    System.out.printf("%s inputs %,d -Dfuzz.seed=%d%n", test.getSimpleName(), count, seed);
    return new FuzzInputs(count, seed);
  }

  boolean oneIn(int chances) {
    return random.nextInt(chances) == 0;
  }

  @SafeVarargs
  final <T> T pick(T... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
