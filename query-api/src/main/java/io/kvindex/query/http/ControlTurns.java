// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Lets so many requests run at a time that may wait for Kafka, and the others wait for their turn
 * in the order they came. Who waits holds no thread; how many wait, and how long, is bounded. A
 * fleet that starts registers all its engines at once. Thread-safe.
 */
final class ControlTurns implements AutoCloseable {

  private final int waiting;
  private final long patienceNanos;

  /** Who waits: each is told once whether it may run. */
  private final Deque<CompletableFuture<Boolean>> queue = new ArrayDeque<>();

  private int free;
  private boolean closed;

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
    CompletableFuture<Boolean> waiter = new CompletableFuture<>();
    boolean taken;
    synchronized (this) {
      if (closed || queue.size() >= waiting) {
        return false;
      }
      taken = tryTake(); // one may have come free since it was looked
      if (!taken) {
        queue.add(waiter);
      }
    }
    if (taken) {
      turn.accept(true);
    } else {
      waiter
          .completeOnTimeout(false, patienceNanos, TimeUnit.NANOSECONDS)
          .thenAccept(come -> leave(waiter, come, turn));
    }
    return true;
  }

  private void leave(CompletableFuture<Boolean> waiter, boolean come, Consumer<Boolean> turn) {
    synchronized (this) {
      queue.remove(waiter);
    }
    turn.accept(come);
  }

  /** A request ended; the one that has waited longest takes its place. */
  void done() {
    CompletableFuture<Boolean> next;
    do {
      synchronized (this) {
        next = queue.poll();
        if (next == null) {
          free++;
          return;
        }
      }
    } while (!next.complete(true)); // that one has just given up
  }

  /** Nobody waits any more. */
  @Override
  public void close() {
    List<CompletableFuture<Boolean>> left;
    synchronized (this) {
      closed = true;
      left = List.copyOf(queue);
    }
    left.forEach(waiter -> waiter.complete(false));
  }
}
