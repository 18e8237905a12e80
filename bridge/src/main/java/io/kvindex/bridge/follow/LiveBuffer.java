// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Live batches that wait for a replay, bounded per publisher and for all of them together. For its
 * loop's thread only, except {@link #oldestMicros()} and {@link #size()}.
 */
final class LiveBuffer {

  private static final int OVERHEAD_BYTES = 64;

  /** What all buffers of a bridge may hold together; any thread. */
  static final class Pool {
    private final long maxBytes;
    private final AtomicLong bytes = new AtomicLong();

    /**
     * @param maxBytes limit in bytes
     */
    Pool(long maxBytes) {
      this.maxBytes = maxBytes;
    }
  }

  private final Deque<RawBatch> batches = new ArrayDeque<>();
  private final int maxBatches;
  private final Pool pool;
  private volatile long oldestMicros;
  private volatile int size;

  LiveBuffer(int maxBatches, Pool pool) {
    this.maxBatches = maxBatches;
    this.pool = pool;
  }

  /** Whether nothing more should be read; what was read is kept all the same. */
  boolean isFull() {
    return batches.size() >= maxBatches
        || (pool.bytes.get() >= pool.maxBytes && !batches.isEmpty());
  }

  /** Whether batches may well wait a while longer. */
  boolean isRoomy() {
    return batches.size() < maxBatches / 2 && pool.bytes.get() < pool.maxBytes / 2;
  }

  /** Batches in it; any thread. */
  int size() {
    return size;
  }

  void add(RawBatch batch) {
    batches.addLast(batch);
    pool.bytes.addAndGet(cost(batch));
    note();
  }

  @Nullable RawBatch peek() {
    return batches.peekFirst();
  }

  void removeFirst() {
    pool.bytes.addAndGet(-cost(batches.removeFirst()));
    note();
  }

  /** Empties it; how many there were. */
  int clear() {
    int count = batches.size();
    while (!batches.isEmpty()) {
      removeFirst();
    }
    return count;
  }

  /** When the oldest one was read from its socket, 0 = empty; any thread. */
  long oldestMicros() {
    return oldestMicros;
  }

  private void note() {
    size = batches.size();
    RawBatch oldest = batches.peekFirst();
    oldestMicros = oldest == null ? 0 : oldest.receivedMicros();
  }

  private static long cost(RawBatch batch) {
    return batch.payload().length + (long) OVERHEAD_BYTES;
  }
}
