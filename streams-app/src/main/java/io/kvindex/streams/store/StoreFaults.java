// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what follows where RocksDB can not read or write its rows: Kafka Streams throws them away
 * and restores them from the changelog, a few times. A disk that goes on failing is given up, as
 * trying again for ever would help nobody, and so are rows that have no changelog. Thread-safe.
 */
public final class StoreFaults {

  private static final Logger LOG = LoggerFactory.getLogger(StoreFaults.class);

  /** Times a partition's rows are thrown away within {@link #WITHIN_NS}. */
  static final int MOST = 3;

  private static final long WITHIN_NS = TimeUnit.HOURS.toNanos(1);

  private static final String ANEW = "start the rebuild anew";

  private final Runnable counter;
  private final boolean changelog;
  private final Map<TaskId, Deque<Long>> times = new HashMap<>();
  private final Set<Integer> begun = new HashSet<>();

  /** Partitions whose rows may lack some that were taken. */
  private final Set<Integer> spoilt = new HashSet<>();

  /** Partitions whose rows could not be read or written. */
  private final Set<Integer> damaged = ConcurrentHashMap.newKeySet();

  /** Partitions whose rows may have some that were deleted. */
  private final Set<Integer> outdated = ConcurrentHashMap.newKeySet();

  /**
   * For rows that have a changelog.
   *
   * @param counter told whenever rows are thrown away
   */
  public StoreFaults(Runnable counter) {
    this(counter, true);
  }

  /**
   * @param changelog whether rows that are thrown away come back from there
   */
  public StoreFaults(Runnable counter, boolean changelog) {
    this.counter = counter;
    this.changelog = changelog;
  }

  /** Rows can not be kept here: nothing but a person can help. */
  public static final class GivenUpException extends RuntimeException {
    private GivenUpException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * To be called before the first record a task takes. Rows that were here when an earlier task of
   * the partition took records can only be gone by mistake, and where nothing restored them the
   * table would silently lack them.
   *
   * @param empty whether there is no row
   * @throws GivenUpException if rows are gone for good
   */
  public synchronized void begins(int partition, boolean empty) {
    boolean gone = !begun.add(partition) && empty || spoilt.contains(partition);
    if (gone && !changelog) {
      throw new GivenUpException(
          "rows of partition " + partition + " are gone, and there is no changelog: " + ANEW, null);
    }
  }

  /** What to throw for an exception of RocksDB's store; others are handed back as they are. */
  RuntimeException of(TaskId task, RuntimeException problem) {
    for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
      if (cause instanceof RocksDBException) {
        return damaged(task, cause);
      }
    }
    return problem;
  }

  /** What to throw where rows are not what they should be. */
  RuntimeException damaged(TaskId task, Throwable cause) {
    if (!changelog) {
      noteSpoilt(task.partition());
      return new GivenUpException(
          "rows of partition "
              + task.partition()
              + " can not be used ("
              + cause.getMessage()
              + "), and there is no changelog: "
              + ANEW,
          cause);
    }
    damaged.add(task.partition());
    if (mayTryAgain(task)) {
      LOG.warn(
          "rows of partition {} can not be used ({}): thrown away and restored from the changelog",
          task.partition(),
          cause.getMessage());
      counter.run();
      return new TaskCorruptedException(Set.of(task));
    }
    return new GivenUpException(
        "rows of partition "
            + task.partition()
            + " can not be kept, though they were built anew "
            + MOST
            + " times: "
            + cause.getMessage(),
        cause);
  }

  /**
   * Rows may have missed deletions, or the changelog has missed them: whoever uses them next throws
   * them away. Any thread.
   *
   * @param partition of the changelog
   * @return false if that was known
   */
  public boolean outdated(int partition) {
    return outdated.add(partition);
  }

  /** The partition has no row yet. */
  void begunAnew(TaskId task) {
    outdated.remove(task.partition());
    damaged.remove(task.partition());
  }

  /** Whether the rows that were there last were wrong, and so are copies of them. */
  boolean mustBeginAnew(TaskId task) {
    return outdated.contains(task.partition()) || damaged.contains(task.partition());
  }

  /**
   * Requires that rows have missed nothing.
   *
   * @throws TaskCorruptedException if they may have
   * @throws GivenUpException if they come again however often they are thrown away
   */
  void requireFollowed(TaskId task) {
    if (!outdated.contains(task.partition())) {
      return;
    }
    if (mayTryAgain(task)) {
      throw new TaskCorruptedException(Set.of(task));
    }
    throw new GivenUpException(
        "old rows of partition " + task.partition() + " can not be thrown away", null);
  }

  private synchronized void noteSpoilt(int partition) {
    spoilt.add(partition);
  }

  private synchronized boolean mayTryAgain(TaskId task) {
    Deque<Long> of = times.computeIfAbsent(task, t -> new ArrayDeque<>());
    long now = System.nanoTime();
    while (!of.isEmpty() && now - of.getFirst() > WITHIN_NS) {
      of.removeFirst();
    }
    if (of.size() >= MOST) {
      return false;
    }
    of.addLast(now);
    return true;
  }
}
