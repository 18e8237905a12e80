// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What one busy engine publishes: each batch is a scheduler step that stores 4 to 16 new blocks
 * and, once its cache is full, evicts as many of the oldest, last block of a chain first, one
 * removal event each. A step begins a new prompt (1/2), goes on with its last one (1/4) or branches
 * off a shared stem (1/4, where there are stems). Not thread-safe.
 */
final class Churn {
  private static final int LEAST = 4;
  private static final int MOST = 16;
  private static final long CHURN = 3L << 56;

  private final SplittableRandom random;
  private final @Nullable LoadShape shape;
  private final BatchWriter writer = new BatchWriter();
  private final long[] hashes = new long[MOST];
  private final long[] resident;
  private final int[] stepSizes;
  private final long name;
  private long stored;
  private long removed;
  private int steps;
  private int oldestStep;
  private long[] chain = {};

  /**
   * @param publisher its number, part of every hash
   * @param residentBlocks capacity of the simulated cache
   * @param shape stems to branch off, null for none
   */
  Churn(int publisher, int residentBlocks, @Nullable LoadShape shape) {
    name = CHURN | (long) publisher << 40;
    random = new SplittableRandom(publisher);
    resident = new long[residentBlocks + MOST];
    stepSizes = new int[resident.length / LEAST + 1];
    this.shape = shape;
  }

  boolean full() {
    return stored - removed + MOST > resident.length - MOST;
  }

  /** Publishes the next step; the block operations in it. */
  int step(LoadPublisher publisher) {
    int count = LEAST + random.nextInt(MOST - LEAST + 1);
    long parent = parent();
    int evicted = evictable(count);
    writer.begin(System.currentTimeMillis() / 1e3, 1 + evicted);
    for (int i = 0; i < count; i++) {
      hashes[i] = Mix.of(name, stored + i);
    }
    writer.stored(
        hashes,
        0,
        count,
        parent == 0,
        parent,
        LoadShape.BLOCK_SIZE,
        true,
        (block, offset) -> LoadShape.token(hashes[block], offset));
    evict(evicted);
    for (int i = 0; i < count; i++) {
      resident[(int) ((stored + i) % resident.length)] = hashes[i];
    }
    stored += count;
    stepSizes[steps++ % stepSizes.length] = count;
    chain = Arrays.copyOf(chain, chain.length + count);
    System.arraycopy(hashes, 0, chain, chain.length - count, count);
    publisher.publish(writer.end(), count + evicted);
    return count + evicted;
  }

  /** Blocks in the simulated cache. */
  long residentBlocks() {
    return stored - removed;
  }

  /** Publishes a step that only evicts, at least so many of the oldest blocks; how many it did. */
  int evictOnly(LoadPublisher publisher, int atLeast) {
    int count = 0;
    for (int s = oldestStep; s < steps && count < atLeast; s++) {
      count += stepSizes[s % stepSizes.length];
    }
    writer.begin(System.currentTimeMillis() / 1e3, count);
    evict(count);
    publisher.publish(writer.end(), count);
    return count;
  }

  /** Hashes of the newest prompt, from its first block to the last one stored; do not change. */
  long[] chain() {
    return chain;
  }

  /** Goes on with the chain or begins another; the parent of what comes, 0 = none. */
  private long parent() {
    int draw = random.nextInt(4);
    if (draw == 1 && shape != null) {
      int stem = random.nextInt(shape.stems());
      chain = shape.stem(stem, random.nextInt(shape.stemBlocks()) + 1);
    } else if (draw != 0) {
      chain = new long[0];
    }
    return chain.length == 0 ? 0 : chain[chain.length - 1];
  }

  /** Blocks of whole old steps to drop so that the new ones fit. */
  private int evictable(int count) {
    int sum = 0;
    for (int s = oldestStep; stored - removed - sum + count > resident.length - MOST; s++) {
      sum += stepSizes[s % stepSizes.length];
    }
    return sum;
  }

  private void evict(int blocks) {
    for (int left = blocks; left > 0; ) {
      int size = stepSizes[oldestStep++ % stepSizes.length];
      for (int i = size - 1; i >= 0; i--) {
        writer.removed(resident[(int) ((removed + i) % resident.length)]);
      }
      removed += size;
      left -= size;
    }
  }
}
