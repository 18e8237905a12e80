// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets so many requests run at a time that may wait for Kafka, and the others wait for their turn
 * in the order they came. Who waits holds no thread; how many wait, and how long, is bounded. A
 * fleet that starts registers all its engines at once. Thread-safe.
 */
final class ControlTurns implements AutoCloseable {

  private final int waiting;
  private final long patienceNanos;
  private final Deque<Waiter> queue = new ArrayDeque<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "control-turns");
            thread.setDaemon(true);
            return thread;
          });
  private int free;
  private boolean closed;

  private static final class Waiter {
    private final Consumer<Boolean> turn;
    private @Nullable ScheduledFuture<?> end;

    private Waiter(Consumer<Boolean> turn) {
      this.turn = turn;
    }
  }

  /**
   * @param atOnce requests that run at a time
   * @param waiting most that wait
   * @param patience longest wait
   */
  ControlTurns(int atOnce, int waiting, Duration patience) {
    free = atOnce;
    this.waiting = waiting;
    patienceNanos = patience.toNanos();
  }

  /** Whether a request may run now; it has to say {@link #done()} then. */
  synchronized boolean tryTake() {
    if (free == 0 || closed) {
      return false;
    }
    free--;
    return true;
  }

  /**
   * Makes a request wait; false if too many do, and it is not resumed then.
   *
   * @param turn told once, by a thread that must not be kept, whether it may run, and has to say
   *     {@link #done()} then; else nothing came free in time
   */
  boolean await(Consumer<Boolean> turn) {
    synchronized (this) {
      if (closed || queue.size() >= waiting) {
        return false;
      }
      if (free == 0) {
        Waiter waiter = new Waiter(turn);
        queue.add(waiter);
        waiter.end = timer.schedule(() -> giveUp(waiter), patienceNanos, TimeUnit.NANOSECONDS);
        return true;
      }
      free--; // one came free since it was looked
    }
    turn.accept(true);
    return true;
  }

  private void giveUp(Waiter waiter) {
    boolean waited;
    synchronized (this) {
      waited = queue.remove(waiter);
    }
    if (waited) {
      waiter.turn.accept(false);
    }
  }

  /** A request ended; the one that has waited longest takes its place. */
  void done() {
    Waiter next;
    synchronized (this) {
      next = queue.poll();
      if (next == null) {
        free++;
        return;
      }
    }
    if (next.end != null) {
      next.end.cancel(false);
    }
    next.turn.accept(true);
  }

  /** Nobody waits any more. */
  @Override
  public void close() {
    Deque<Waiter> left;
    synchronized (this) {
      closed = true;
      left = new ArrayDeque<>(queue);
      queue.clear();
    }
    timer.shutdownNow();
    left.forEach(waiter -> waiter.turn.accept(false));
  }
}
