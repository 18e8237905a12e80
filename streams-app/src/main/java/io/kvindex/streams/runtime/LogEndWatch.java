// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.log.OncePerMinute;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks Kafka whether the log still is the one the tables were folded from, where no record tells:
 * the last record is lost and none has come since, or all are, or the topic was deleted and created
 * again and is longer already than what was read. A table of another log is refused.
 *
 * <p>When it asks: whenever a task begins, which is at the start, after a rebalance, and after this
 * process could not reach Kafka for longer than its session; a second after an answer that looks
 * bad, or was none, so as soon as Kafka is back; else every half a minute, since a new leader and a
 * topic made anew need not end a task, and Kafka tells nobody. That is two small requests. What
 * they notice late does little: once a log goes on, its first record shows the loss by itself, but
 * for the topic made anew.
 *
 * <p>An answer may be old: brokers hear of a new leader or topic one after the other. So a table is
 * refused only if a second answer, at least a second later, is the same and nothing was folded in
 * between. Thread-safe.
 *
 * @param <V> the tables' read view
 */
public final class LogEndWatch<V> implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LogEndWatch.class);
  private static final Duration OTHERWISE = Duration.ofSeconds(30);
  private static final Duration AGAIN = Duration.ofSeconds(1);

  /** Tasks of a process begin together, and are asked for together. */
  private static final Duration TOGETHER = Duration.ofMillis(200);

  private final LogTopic topic;
  private final ProcessTables<V> tables;
  private final Duration otherwise;
  private final Duration again;
  private final ScheduledThreadPoolExecutor timer;
  private final OncePerMinute warning = new OncePerMinute();

  /** For the timer's thread. */
  private final Suspicions suspicions;

  private @Nullable ScheduledFuture<?> next;
  private boolean closed;

  /** Asks nothing before the first task begins. */
  public LogEndWatch(LogTopic topic, ProcessTables<V> tables) {
    this(topic, tables, OTHERWISE, AGAIN);
  }

  /** Visible for tests. */
  LogEndWatch(LogTopic topic, ProcessTables<V> tables, Duration otherwise, Duration again) {
    this.topic = topic;
    this.tables = tables;
    this.otherwise = otherwise;
    this.again = again;
    suspicions = new Suspicions(again);
    timer = new ScheduledThreadPoolExecutor(1, task -> new Thread(task, "kvindex-log-end"));
    timer.setRemoveOnCancelPolicy(true);
  }

  /** A task begins. Never waits. */
  public void soon() {
    lookIn(TOGETHER);
  }

  private synchronized void lookIn(Duration delay) {
    ScheduledFuture<?> planned = next;
    if (closed || planned != null && planned.getDelay(TimeUnit.NANOSECONDS) <= delay.toNanos()) {
      return;
    }
    if (planned != null) {
      planned.cancel(false);
    }
    next = timer.schedule(this::look, delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void look() {
    synchronized (this) {
      next = null;
    }
    boolean sure = false;
    try {
      sure = isSure();
    } catch (KafkaException e) {
      LOG.debug("Kafka does not say how it is with the log", e);
    } catch (RuntimeException e) {
      if (warning.allows()) {
        LOG.warn("BUG: nobody looks whether the log has lost its end", e);
      }
    }
    lookIn(sure ? otherwise : again);
  }

  /** Asks, and refuses what has to be; whether there was an answer that leaves no doubt. */
  private boolean isSure() {
    // Before Kafka is asked, so that no answer can be older than what it is compared with.
    Map<Integer, Long> folded = new HashMap<>();
    Map<Integer, FoldedTable<V>> inUse = new HashMap<>();
    for (int p = 0; p < tables.partitions(); p++) {
      FoldedTable<V> table = tables.inUse(p);
      if (table != null) {
        inUse.put(p, table);
        folded.put(p, table.foldedOffset());
      }
    }
    if (inUse.isEmpty()) {
      return true;
    }
    Uuid id = topic.id();
    Map<Integer, Long> ends = topic.ends(tables.partitions());
    boolean sure = ends.keySet().containsAll(inUse.keySet());
    for (Map.Entry<Integer, FoldedTable<V>> each : inUse.entrySet()) {
      int p = each.getKey();
      FoldedTable<V> table = each.getValue();
      Refusal why = objection(tables.topicId(p), id, folded.getOrDefault(p, -1L), ends.get(p));
      if (suspicions.isConfirmed(p, table, why, System.nanoTime()) && why != null) {
        tables.refuse(p, table, why, null);
      } else {
        sure &= why == null;
      }
    }
    return sure;
  }

  /**
   * What speaks against a table, null = nothing.
   *
   * @param of the topic the table is of, null = it is not in use any more
   * @param folded offset of the last record in it, -1 = none
   * @param end offset the next record will have, null = not known
   */
  static @Nullable Refusal objection(@Nullable Uuid of, Uuid now, long folded, @Nullable Long end) {
    if (of != null && !of.equals(now)) {
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

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    timer.shutdownNow();
  }
}
