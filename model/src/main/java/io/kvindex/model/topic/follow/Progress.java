// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic.follow;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.TopicPartition;

/** How far a follower has come, and whoever waits for it to come further. Thread-safe. */
final class Progress {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();
  private final Map<Integer, Long> next = new HashMap<>();
  private long refreshesAsked;
  private long refreshesDone;

  /** The next offset of a partition that is not visible yet. */
  void at(TopicPartition partition, long offset) {
    locked(() -> next.put(partition.partition(), offset));
  }

  void refreshedUpTo(long ticket) {
    locked(() -> refreshesDone = Math.max(refreshesDone, ticket));
  }

  /** Newest refresh anybody asked for. */
  long refreshAsked() {
    lock.lock();
    try {
      return refreshesAsked;
    } finally {
      lock.unlock();
    }
  }

  boolean refreshOpen() {
    lock.lock();
    try {
      return refreshesAsked > refreshesDone;
    } finally {
      lock.unlock();
    }
  }

  long askRefresh() {
    lock.lock();
    try {
      return ++refreshesAsked;
    } finally {
      lock.unlock();
    }
  }

  boolean awaitRefresh(long ticket, long deadlineNanos) throws InterruptedException {
    return await(() -> refreshesDone >= ticket, deadlineNanos);
  }

  boolean awaitOffset(int partition, long offset, long deadlineNanos) throws InterruptedException {
    return await(() -> next.getOrDefault(partition, 0L) > offset, deadlineNanos);
  }

  /** Whether it was reached in time; looked at under the lock whenever something moves. */
  private boolean await(BooleanSupplier reached, long deadlineNanos) throws InterruptedException {
    lock.lock();
    try {
      while (!reached.getAsBoolean()) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        moved.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the given time or until something moves; the follower's pause after a failure. */
  void pause(long millis) throws InterruptedException {
    lock.lock();
    try {
      moved.await(millis, TimeUnit.MILLISECONDS);
    } finally {
      lock.unlock();
    }
  }

  void wake() {
    locked(() -> {});
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
