// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.micrometer.core.instrument.Counter;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of a process, by partition. They outlive tasks: Kafka Streams takes a store without a
 * changelog for one that can be made anew at any time, so tasks only borrow the table that is here,
 * one at a time. Loading takes threads of its own. Close it after Kafka Streams. Thread-safe.
 */
public final class ProcessTables implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessTables.class);

  /** Records deleted from the log before they were read. */
  static final String MISSING = "kvindex.log.records.missing";

  /** Records out of turn, for which reading began again at the last one folded. */
  static final String DOUBTS = "kvindex.log.doubts";

  /** A loader is told to stop by an interrupt, and may be in the middle of a read. */
  private static final long LOADS_END_S = 10;

  private static final long THREADS_IDLE_S = 5;

  private final MeterRegistry metrics;
  private final Stages stages;
  private final ThreadPoolExecutor loading;
  private final List<TableSlot> slots;

  /**
   * @param partitions of the log, 1 at least
   * @param loadsAtOnce how many tables are loaded at a time, 1 at least
   * @param topicId asks Kafka for the topic's id, see {@link LogTopic#id}
   * @param longestPause between two loads that fail
   */
  public ProcessTables(
      int partitions,
      int loadsAtOnce,
      Supplier<Uuid> topicId,
      TableLoader loader,
      MeterRegistry metrics,
      Duration longestPause) {
    ThreadPoolExecutor threads = threads(loadsAtOnce);
    this.metrics = metrics;
    stages = new Stages(metrics);
    loading = threads;
    slots =
        IntStream.range(0, partitions)
            .mapToObj(p -> new TableSlot(p, loader, topicId, threads, metrics, longestPause))
            .toList();
    // There from the start: what was never seen at 0 does not seem to grow when it begins.
    addCounter(metrics, MISSING, "records deleted from the events topic before they were read");
    addCounter(
        metrics, DOUBTS, "records out of turn, for which reading began again at the last folded");
    addCounter(metrics, TableSlot.LOADS_FAILED, "tables that could not be loaded, each try");
    for (Refusal.Cause cause : Refusal.Cause.values()) {
      String what = "tables thrown away while they were in use";
      addCounter(metrics, TableSlot.REFUSED, what, "cause", cause.label());
    }
  }

  private static void addCounter(MeterRegistry metrics, String name, String what, String... tags) {
    Counter.builder(name).description(what).tags(tags).register(metrics);
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

  /** A partition's table, there or not. */
  public TableSlot at(int partition) {
    return slots.get(partition);
  }

  /** Where the time of traced batches goes. */
  Stages stages() {
    return stages;
  }

  /** Counts what happened to tables, or to the log they are folded from. */
  void count(String what, long n) {
    metrics.counter(what).increment(n);
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
