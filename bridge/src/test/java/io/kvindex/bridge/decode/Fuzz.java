// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.TestSeed;
import java.lang.management.ManagementFactory;
import java.util.Random;

/**
 * Bounds every fuzz test holds: how many inputs, how long one may take, how much it may allocate.
 * {@code -Dfuzz.inputs=1000000} makes each test try that many; {@code -Dkvindex.test.seed=N}
 * repeats a run.
 */
public final class Fuzz {

  private static final long SLOWEST_NS = 2_000_000_000L;

  /** Far above what any input needs; a declared length that is believed allocates megabytes. */
  private static final long BYTES_PER_BYTE = 1_000;

  private static final long BYTES_ANYWAY = 1 << 20;
  private static final long GROWTH_BYTES = 16L << 20;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final int inputs;
  private final Random random;
  private long heapAtStart;

  private Fuzz(int inputs, Random random) {
    this.inputs = inputs;
    this.random = random;
  }

  /**
   * A run; the seed that repeats it is logged.
   *
   * @param usual inputs where nobody says otherwise
   */
  public static Fuzz of(Class<?> test, int usual) {
    return new Fuzz(Integer.getInteger("fuzz.inputs", usual), random(test));
  }

  /** Chance that can be repeated: prints its seed, which {@code -Dkvindex.test.seed=N} sets. */
  public static Random random(Class<?> test) {
    return new Random(TestSeed.of(test));
  }

  /** One input: makes it and hands it over through {@link Try#on}. */
  public interface Step {
    void run(Random random, Try one);
  }

  /** The measured part of a step. */
  public interface Try {
    /**
     * Runs the code under test.
     *
     * @param length bytes of the input
     */
    void on(int length, Runnable code);
  }

  /** Runs all of them; memory is measured from a tenth of the way on, when caches are warm. */
  public void run(Step step) {
    for (int i = 0; i < inputs; i++) {
      if (i == inputs / 10) {
        heapAtStart = heap();
      }
      int number = i;
      step.run(random, (length, code) -> measure(number, length, code));
    }
    assertThat(heap() - heapAtStart).as("growth of the heap").isLessThan(GROWTH_BYTES);
  }

  /** Inputs of this run. */
  public int inputs() {
    return inputs;
  }

  private void measure(int number, int length, Runnable code) {
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    long start = System.nanoTime();
    code.run();
    long took = System.nanoTime() - start;
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - bytes;
    boolean warm = number >= inputs / 10; // before, classes are loaded
    if (took > SLOWEST_NS || warm && allocated > BYTES_ANYWAY + length * BYTES_PER_BYTE) {
      throw new AssertionError(
          "input %d of %d bytes took %d ms and allocated %d bytes"
              .formatted(number, length, took / 1_000_000, allocated));
    }
  }

  private static long heap() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
