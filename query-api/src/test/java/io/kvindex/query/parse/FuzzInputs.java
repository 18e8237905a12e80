// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.sandbox.TestSeed;
import java.util.Random;

/**
 * How many inputs a test tries, and which: {@code -Dfuzz.inputs=1000000} makes each try that many,
 * {@code -Dkvindex.test.seed=N}, as printed, repeats a run.
 */
final class FuzzInputs {
  final int count;
  final Random random;

  private FuzzInputs(int count, long seed) {
    this.count = count;
    random = new Random(seed);
  }

  static FuzzInputs of(Class<?> test, int usual) {
    return new FuzzInputs(Integer.getInteger("fuzz.inputs", usual), TestSeed.of(test));
  }

  boolean oneIn(int chances) {
    return random.nextInt(chances) == 0;
  }

  @SafeVarargs
  final <T> T pick(T... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
