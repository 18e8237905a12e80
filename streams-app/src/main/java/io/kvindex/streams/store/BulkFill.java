// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Writes what is read of a changelog a few batches behind: to write rows takes longer than to read
 * them, and partitions can be written side by side. Whoever needs the rows to be there finishes
 * first. For any thread; its own ends when there is nothing to do.
 */
final class BulkFill {

  /** Batches not written yet, most; those of a fetch are then waited for by nobody. */
  private static final int AHEAD = 4;

  private final ThreadPoolExecutor thread;
  private final Deque<Future<?>> writing = new ArrayDeque<>();

  BulkFill(int partition) {
    thread =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), // holds AHEAD at most
            task -> {
              Thread one = new Thread(task, "kvindex-fill-" + partition);
              one.setDaemon(true);
              return one;
            });
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Has a batch written behind those before; waits where there are too many of them.
   *
   * @throws RuntimeException why one before was not written
   */
  synchronized void write(Runnable batch) {
    while (writing.size() >= AHEAD) {
      await(writing.remove());
    }
    writing.add(thread.submit(batch));
  }

  /**
   * Waits until all is written.
   *
   * @throws RuntimeException why a batch was not
   */
  synchronized void finish() {
    while (!writing.isEmpty()) {
      await(writing.remove());
    }
  }

  private static void await(Future<?> batch) {
    try {
      batch.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException known
          ? known
          : new IllegalStateException("rows were not written", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while rows were written", e);
    }
  }
}
