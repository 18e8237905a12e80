// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.streams.index.IndexFigures;
import io.kvindex.streams.index.PrefixIndex;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How many bytes does a block take in memory, and what is the worst update on the way there? Fills
 * a table with runs of blocks, 64 owners, a quarter of the blocks shared by several, and compares
 * the heap in use after full collections.
 *
 * <p>Arguments: blocks (default 10,000,000). Target: 32 bytes a block, all in.
 */
public final class IndexMemory {

  private static final int OWNERS = 64;
  private static final int RUN = 16;

  private IndexMemory() {}

  /** Runs it. */
  public static void main(String[] arguments) {
    int blocks = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000_000;
    long before = heapAfterCollection();
    long start = System.nanoTime();
    long[] nanos = new long[64];
    PrefixIndex index = new PrefixIndex();
    long updates = fill(index, blocks, nanos);
    long took = System.nanoTime() - start;
    long bytes = heapAfterCollection() - before;
    IndexFigures figures = index.figures();
    System.out.printf(
        Locale.ROOT,
        "%d blocks, %d updates, %.1f bytes a block in the heap (own estimate %.1f), %.0f ns an update%n%s%n",
        figures.blocks(),
        updates,
        (double) bytes / figures.blocks(),
        (double) figures.bytes() / figures.blocks(),
        (double) took / updates,
        figures);
    System.out.println("updates by duration:");
    for (int i = 0; i < nanos.length; i++) {
      if (nanos[i] > 0) {
        System.out.printf(Locale.ROOT, "  < %,11d ns %12d%n", 1L << i, nanos[i]);
      }
    }
  }

  private static long fill(PrefixIndex index, int blocks, long[] nanos) {
    SplittableRandom random = new SplittableRandom(1);
    int[] slots = new int[OWNERS];
    Arrays.setAll(slots, i -> index.addOwner(Prompts.owner(i)));
    long updates = 0;
    long[] keys = new long[RUN];
    for (int run = 0; index.figures().blocks() < blocks; run++) {
      Arrays.setAll(keys, i -> random.nextLong());
      int sharers = run % 4 == 0 ? 1 + random.nextInt(OWNERS - 1) : 1;
      int first = random.nextInt(OWNERS);
      for (int s = 0; s < sharers; s++) {
        for (long key : keys) {
          long from = System.nanoTime();
          index.add(key, slots[(first + s) % OWNERS]);
          nanos[64 - Long.numberOfLeadingZeros(System.nanoTime() - from)]++;
          updates++;
        }
      }
    }
    return updates;
  }

  private static long heapAfterCollection() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
