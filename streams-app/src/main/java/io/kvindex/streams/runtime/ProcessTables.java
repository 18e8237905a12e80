// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.errors.LockException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of a process, by partition. They outlive tasks: Kafka Streams takes a store without a
 * changelog for one that can be made anew at any time, so tasks only borrow the table that is here,
 * one at a time. Loading takes threads of its own. Close it after Kafka Streams. Thread-safe.
 *
 * @param <V> the tables' read view
 */
public final class ProcessTables<V> implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessTables.class);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  /** A loader is told to stop by an interrupt, and may be in the middle of a read. */
  private static final long LOADS_END_S = 10;

  private static final long THREADS_IDLE_S = 5;

  private final TableMeters meters;
  private final ThreadPoolExecutor loading;
  private final List<TableSlot<V>> slots;

  /**
   * @param partitions of the log, 1 at least
   * @param loadsAtOnce how many tables are loaded at a time, 1 at least
   * @param topicId asks Kafka for the topic's id, see {@link LogTopic#id}
   */
  public ProcessTables(
      int partitions,
      int loadsAtOnce,
      Supplier<Uuid> topicId,
      TableLoader<V> loader,
      MeterRegistry metrics) {
    this(partitions, loadsAtOnce, topicId, loader, metrics, LONGEST_PAUSE);
  }

  /**
   * Visible for tests.
   *
   * @param longestPause between two loads that fail
   */
  ProcessTables(
      int partitions,
      int loadsAtOnce,
      Supplier<Uuid> topicId,
      TableLoader<V> loader,
      MeterRegistry metrics,
      Duration longestPause) {
    TableMeters counts = new TableMeters(metrics);
    ThreadPoolExecutor threads = threads(loadsAtOnce);
    meters = counts;
    loading = threads;
    slots =
        IntStream.range(0, partitions)
            .mapToObj(p -> new TableSlot<>(p, loader, topicId, threads, counts, longestPause))
            .toList();
  }

  /** None while there is nothing to load. A partition is in their queue at most once. */
  private static ThreadPoolExecutor threads(int most) {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most,
            most,
            THREADS_IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> new Thread(task, "kvindex-load-" + number.incrementAndGet()));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Number of partitions. */
  public int partitions() {
    return slots.size();
  }

  /**
   * Begins to load all that are not there. Where a copy has one process, all are its own: loaded
   * before Kafka Streams starts, no task has to wait for one, which Kafka tries again after seconds
   * only. Never waits.
   *
   * @return completed once each is {@link TableState#READY} or {@link TableState#FAILED}
   */
  public CompletableFuture<Void> loadAll() {
    return CompletableFuture.allOf(
        slots.stream().map(TableSlot::load).toArray(CompletableFuture<?>[]::new));
  }

  /** How it stands with a partition's table. */
  public TableState state(int partition) {
    return slots.get(partition).state();
  }

  /** Why a partition's table is {@link TableState#FAILED}, for people; "" where it is not. */
  public String failure(int partition) {
    return slots.get(partition).failure();
  }

  /**
   * The read view of a table that is {@link TableState#READY}, else null. As old as its last task
   * where {@link #isFollowed} says no. Never waits.
   */
  public @Nullable V view(int partition) {
    FoldedTable<V> table = slots.get(partition).inUse();
    return table == null ? null : table.view();
  }

  /** Whether a task has the table, which so follows the log. */
  public boolean isFollowed(int partition) {
    return slots.get(partition).isTaken();
  }

  /**
   * Puts a table away, with a last checkpoint: another process of the copy keeps it. Nothing
   * happens if it is not there, or a task has it, or had it until a moment ago. Never waits.
   *
   * @param idle how long it must have been without a task
   */
  public void letGo(int partition, Duration idle) {
    slots.get(partition).letGo(idle.toNanos());
  }

  /** The table that is {@link TableState#READY}, null = none is. Never waits. */
  public @Nullable FoldedTable<V> inUse(int partition) {
    return slots.get(partition).inUse();
  }

  /** Which topic that table is of, null = there is none. */
  public @Nullable Uuid topicId(int partition) {
    return slots.get(partition).topicId();
  }

  TableMeters meters() {
    return meters;
  }

  /**
   * Gives a table to a task, which alone writes it until {@link #release}. Never waits.
   *
   * @throws LockException if it is not there, whereupon it is loaded, or if another task has it
   */
  FoldedTable<V> take(int partition, Object task) {
    return slots.get(partition).take(task);
  }

  /** The task writes no more; nothing happens if it does not have the table. */
  void release(int partition, Object task) {
    slots.get(partition).release(task);
  }

  /**
   * A table must not be used any more: from now on nobody reads it. It is let go of and loaded anew
   * once the task that has it has released it; that task has to be closed by whoever finds this
   * out, see {@link FoldProcessor}.
   *
   * @param failure what went wrong, for the log, null = no exception tells
   */
  void refuse(int partition, FoldedTable<V> table, Refusal why, @Nullable Throwable failure) {
    slots.get(partition).refuse(table, why, failure);
  }

  /**
   * Stops loading and puts all tables away, with their last checkpoints. Their views stay, as old
   * as their last record.
   */
  @Override
  public void close() {
    slots.forEach(TableSlot::shut);
    loading.shutdownNow();
    try {
      if (!loading.awaitTermination(LOADS_END_S, TimeUnit.SECONDS)) {
        LOG.warn("a table is still being loaded; the process ends without waiting for it");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    slots.forEach(TableSlot::end);
  }
}
