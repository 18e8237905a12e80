// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Requests that wait for an event to become visible. They hold no thread: a timer looks after all
 * of them, often at first and less often later. Their number is bounded, so that they never keep
 * other queries out. Thread-safe.
 */
final class EventWaiters implements AutoCloseable {
  private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The longer a wait has lasted, the later it is looked at again: after this part of it. */
  private static final int EIGHTH = 8;

  private final Semaphore places;
  private volatile boolean closed;

  EventWaiters(int places) {
    this.places = new Semaphore(places);
  }

  /**
   * Resumes the waiter once, as soon as it is reached or when the time is over.
   *
   * @param reached called by the timer's thread; what it throws counts as reached, so that whoever
   *     is resumed meets it again
   * @param forNanos longest wait
   * @param waiter goes on, on any thread but the timer's
   * @return false if too many wait already; the waiter is not resumed then
   */
  boolean await(BooleanSupplier reached, long forNanos, Consumer<Boolean> waiter) {
    if (closed || !places.tryAcquire()) {
      return false;
    }
    long now = System.nanoTime();
    look(new Wait(reached, now, now + forNanos, waiter), SHORTEST_NANOS);
    return true;
  }

  private void look(Wait wait, long afterNanos) {
    CompletableFuture.delayedExecutor(afterNanos, TimeUnit.NANOSECONDS, Runnable::run)
        .execute(() -> look(wait));
  }

  private void look(Wait wait) {
    long now = System.nanoTime();
    boolean reached = wait.isReached();
    if (reached || closed || now - wait.until() >= 0) {
      places.release();
      wait.waiter().accept(reached);
      return;
    }
    long pause = Math.max(SHORTEST_NANOS, (now - wait.since()) / EIGHTH);
    look(wait, Math.min(Math.min(pause, LONGEST_NANOS), wait.until() - now));
  }

  /** Whoever waits is resumed as not reached. */
  @Override
  public void close() {
    closed = true;
  }

  private record Wait(BooleanSupplier reached, long since, long until, Consumer<Boolean> waiter) {

    boolean isReached() {
      try {
        return reached.getAsBoolean();
      } catch (RuntimeException e) {
        return true;
      }
    }
  }
}
