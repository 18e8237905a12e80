// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.log.OncePerMinute;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks where the log ends: how far the tables are behind it, and whether it still is the log they
 * were folded from, where no record tells. The last record may be lost and none has come since, or
 * all are, or the topic was deleted and created again and is longer already than what was read. A
 * table of another log is refused.
 *
 * <p>Looks five times a second while records come, and once a second while none do: then all there
 * is to find out is that Kafka is away. The topic's id is asked for whenever a task begins, which
 * is at the start, after a rebalance, and after this process could not reach Kafka for longer than
 * its session; with the next look after an answer that looked bad, or was none, so as soon as Kafka
 * is back; else every half a minute, since a topic made anew need not end a task, and Kafka tells
 * nobody.
 *
 * <p>An answer may be old: brokers hear of a new leader or topic one after the other. So a table is
 * refused only if a second answer, at least a second later, is the same and nothing was folded in
 * between. Thread-safe.
 */
public final class LogWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LogWatch.class);
  private static final long BUSY_MS = 200;
  private static final long IDLE_MS = 1_000;

  /** Looks that find nothing new before it looks less often. */
  private static final int QUIET = 10;

  private final LogTopic topic;
  private final ProcessTables tables;
  private final long sameTopicNanos;
  private final List<PartitionBacklog> backlogs;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "kvindex-log-end"));
  private final OncePerMinute warnings = new OncePerMinute();

  /** A task has begun, so this process may have been away. */
  private volatile boolean begun = true;

  // ---- the timer's

  private final Suspicions suspicions;
  private final long[] ends;
  private final long[] folded;
  private int quiet;
  private long askedIdNanos;

  /** Whether the last look left no doubt. */
  private boolean sure;

  /**
   * @param topic the log; the caller closes it
   * @param maxLag see {@link PartitionBacklog.Found}
   * @param sameTopic how long the topic's id is believed
   * @param again how much later the same has to be said against a table to be believed
   */
  public LogWatch(
      LogTopic topic, ProcessTables tables, Duration maxLag, Duration sameTopic, Duration again) {
    this.topic = topic;
    this.tables = tables;
    sameTopicNanos = sameTopic.toNanos();
    suspicions = new Suspicions(again);
    ends = new long[tables.partitions()];
    folded = new long[tables.partitions()];
    backlogs =
        IntStream.range(0, tables.partitions())
            .mapToObj(p -> new PartitionBacklog(maxLag))
            .toList();
  }

  /** Begins to look. */
  public void start() {
    timer.execute(this::look);
  }

  /** A task begins: the next look asks for the topic's id. Never waits. */
  public void taskBegins() {
    begun = true;
  }

  /** How far a partition's table was behind when it was looked at last. */
  public PartitionBacklog.Found backlog(int partition) {
    return backlogs.get(partition).found();
  }

  private void look() {
    try {
      quiet = refresh() ? 0 : quiet + 1;
    } catch (KafkaException e) {
      LOG.debug("Kafka does not say how it is with the log", e);
    } catch (RuntimeException | Error e) {
      if (warnings.allows()) {
        LOG.warn("BUG: nobody looks where the log ends, answers grow stale", e);
      }
    }
    if (!timer.isShutdown()) {
      timer.schedule(this::look, quiet < QUIET ? BUSY_MS : IDLE_MS, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Looks once. For the timer's thread; visible for tests, which have no timer.
   *
   * @return whether anything has changed
   */
  boolean refresh() {
    // Before Kafka is asked, so that no answer can be older than what it is compared with.
    Map<FoldedTable, Long> before = new HashMap<>();
    for (int p = 0; p < tables.partitions(); p++) {
      FoldedTable table = tables.at(p).inUse();
      if (table != null) {
        before.put(table, table.foldedOffset());
      }
    }
    long askedNanos = System.nanoTime();
    Map<Integer, Long> now = topic.ends(tables.partitions());
    boolean moved = measure(now, askedNanos);
    if (now.isEmpty()) {
      sure = false; // Kafka is away, and may come back with another topic
    } else if (!before.isEmpty()) {
      judge(before, now);
    }
    return moved;
  }

  private boolean measure(Map<Integer, Long> now, long askedNanos) {
    Set<Integer> standing = new TreeSet<>();
    boolean moved = false;
    for (Map.Entry<Integer, Long> end : now.entrySet()) {
      int partition = end.getKey();
      FoldedTable table = tables.at(partition).inUse();
      if (table == null) {
        backlogs.get(partition).forget();
        folded[partition] = -1;
        moved |= tables.at(partition).state() != TableState.ABSENT;
        continue;
      }
      long taken = Math.max(table.foldedOffset(), table.firstOffset() - 1);
      boolean stands = taken == folded[partition] && taken + 1 < end.getValue();
      moved |= taken != folded[partition] || end.getValue() != ends[partition] || stands;
      if (stands) {
        standing.add(partition);
      } else {
        backlogs.get(partition).note(end.getValue(), taken + 1, askedNanos);
      }
      folded[partition] = taken;
      ends[partition] = end.getValue();
    }
    if (!standing.isEmpty()) {
      lookAtStarts(standing, askedNanos);
    }
    return moved;
  }

  /** What retention took never comes. */
  private void lookAtStarts(Set<Integer> partitions, long askedNanos) {
    topic
        .starts(partitions)
        .forEach(
            (partition, start) -> {
              long first = Math.max(start, folded[partition] + 1);
              backlogs
                  .get(partition)
                  .note(ends[partition], Math.min(first, ends[partition]), askedNanos);
            });
  }

  /** Refuses what has to be. */
  private void judge(Map<FoldedTable, Long> before, Map<Integer, Long> now) {
    boolean asks = begun || !sure || System.nanoTime() - askedIdNanos >= sameTopicNanos;
    sure = false;
    Uuid id = null;
    if (asks) {
      begun = false;
      id = topic.id();
      askedIdNanos = System.nanoTime();
    }
    boolean noDoubt = true;
    for (int p = 0; p < tables.partitions(); p++) {
      FoldedTable table = tables.at(p).inUse();
      Long offset = table == null ? null : before.get(table);
      if (table == null || offset == null) {
        continue;
      }
      Long end = now.get(p);
      Refusal why = objection(tables.at(p).topicId(), id, offset, end);
      if (suspicions.isConfirmed(p, table, why, System.nanoTime()) && why != null) {
        tables.at(p).refuse(table, why, null);
      } else {
        noDoubt &= why == null && end != null;
      }
    }
    sure = noDoubt;
  }

  /**
   * What speaks against a table, null = nothing.
   *
   * @param of the topic the table is of, null = it is not in use any more
   * @param now the topic's id, null = it was not asked for
   * @param folded offset of the last record in it, -1 = none
   * @param end offset the next record will have, null = not known
   */
  static @Nullable Refusal objection(
      @Nullable Uuid of, @Nullable Uuid now, long folded, @Nullable Long end) {
    if (of != null && now != null && !of.equals(now)) {
      return new Refusal(
          Refusal.Cause.LOG_LOST_END,
          0,
          "the topic was deleted and created again: it is " + now + " and was " + of);
    }
    if (end != null && end <= folded) {
      return new Refusal(
          Refusal.Cause.LOG_LOST_END,
          end,
          "the log was folded up to " + folded + " and ends before " + end);
    }
    return null;
  }

  /** What was said against tables once, until it is said again. For one thread. */
  static final class Suspicions {

    private final long againNs;
    private final Map<Integer, Suspicion> byPartition = new HashMap<>();

    /** One that was refused meanwhile has to be let go of before another one is loaded. */
    private record Suspicion(WeakReference<FoldedTable> table, Refusal why, long sinceNs) {}

    Suspicions(Duration again) {
      againNs = again.toNanos();
    }

    /**
     * Takes the newest answer about a partition.
     *
     * @param why what it says against the table, null = nothing
     * @return whether the same was said of the same table long enough ago, and nothing else since
     */
    boolean isConfirmed(int partition, FoldedTable table, @Nullable Refusal why, long nowNs) {
      Suspicion known = byPartition.get(partition);
      if (why == null) {
        byPartition.remove(partition);
        return false;
      }
      if (known == null || known.table().get() != table || !known.why().equals(why)) {
        byPartition.put(partition, new Suspicion(new WeakReference<>(table), why, nowNs));
        return false;
      }
      return nowNs - known.sinceNs() >= againNs;
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
