// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the random numbers of a test begin: elsewhere each time, and logged, so as to be repeated.
 */
public final class TestSeed {

  private static final Logger LOG = LoggerFactory.getLogger(TestSeed.class);
  private static final String PROPERTY = "kvindex.test.seed";

  private TestSeed() {}

  /** The seed given by {@code -Dkvindex.test.seed}, else a new one; logs it. */
  public static long of(Class<?> test) {
    long seed = Long.getLong(PROPERTY, System.nanoTime());
    LOG.info("{} is repeated with -D{}={}", test.getSimpleName(), PROPERTY, seed);
    return seed;
  }
}
