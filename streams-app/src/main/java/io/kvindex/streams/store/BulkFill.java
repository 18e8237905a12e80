// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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

  /** Why the first batch was not written that was not: none is after it, and nobody may go on. */
  private volatile @Nullable RuntimeException failure;

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
      awaitFirst();
    }
    requireWritten();
    writing.add(thread.submit(() -> run(batch)));
  }

  private void run(Runnable batch) {
    if (failure != null) {
      return;
    }
    try {
      batch.run();
    } catch (RuntimeException e) {
      failure = e;
    } catch (Error e) {
      failure = new IllegalStateException("rows were not written", e);
    }
  }

  /**
   * Waits until nothing is being written any more.
   *
   * @throws RuntimeException why a batch was not, each time
   */
  synchronized void finish() {
    while (!writing.isEmpty()) {
      awaitFirst();
    }
    requireWritten();
  }

  private void requireWritten() {
    RuntimeException why = failure;
    if (why != null) {
      throw why;
    }
  }

  /** Whoever is interrupted waits as well: what is being written must not be closed under it. */
  private void awaitFirst() {
    boolean interrupted = false;
    Future<?> first = writing.element();
    while (!first.isDone()) {
      try {
        first.get();
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        throw new IllegalStateException("BUG: a batch's failure is not kept", e);
      }
    }
    writing.remove();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
