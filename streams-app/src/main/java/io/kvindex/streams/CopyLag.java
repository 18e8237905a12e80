// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.log.OncePerMinute;
import io.kvindex.streams.runtime.LogTopic;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the tables are behind the log: its end against what was folded. Looks five times a second
 * while records come, and once a second while none do: then all there is to find out is that Kafka
 * is away. Any thread reads.
 */
final class CopyLag implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CopyLag.class);
  private static final long BUSY_MS = 200;
  private static final long IDLE_MS = 1_000;

  /** Looks that find nothing new before it looks less often. */
  private static final int QUIET = 10;

  private final LogTopic topic;
  private final IntFunction<@Nullable PartitionView> views;
  private final IntPredicate isComing;
  private final PartitionBacklog[] backlogs;
  private final long[] ends;
  private final long[] folded;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "kvindex-lag"));
  private int quiet;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param topic the log; the caller closes it
   * @param views what is answered from, by partition
   * @param isComing whether a partition that has no view is about to have one
   */
  CopyLag(
      LogTopic topic,
      int partitions,
      Duration maxLag,
      IntFunction<@Nullable PartitionView> views,
      IntPredicate isComing,
      MeterRegistry metrics) {
    this.topic = topic;
    this.views = views;
    this.isComing = isComing;
    ends = new long[partitions];
    folded = new long[partitions];
    backlogs =
        IntStream.range(0, partitions)
            .mapToObj(p -> new PartitionBacklog(maxLag))
            .toArray(PartitionBacklog[]::new);
    for (int p = 0; p < partitions; p++) {
      int partition = p;
      Gauge.builder("kvindex.kafka.lag", () -> records(partition))
          .tag("partition", Integer.toString(p))
          .description("records of the events topic not applied yet")
          .register(metrics);
    }
  }

  void start() {
    timer.execute(this::look);
  }

  private void look() {
    try {
      quiet = refresh() ? 0 : quiet + 1;
    } catch (KafkaException e) {
      LOG.debug("Kafka does not say where the log ends", e);
    } catch (RuntimeException e) {
      if (warnings.allows()) {
        LOG.warn("BUG: nobody looks how far the tables are behind, answers grow stale", e);
      }
    }
    if (!timer.isShutdown()) {
      timer.schedule(this::look, quiet < QUIET ? BUSY_MS : IDLE_MS, TimeUnit.MILLISECONDS);
    }
  }

  /** Whether anything has changed. */
  private boolean refresh() {
    long askedNanos = System.nanoTime();
    Map<Integer, Long> now = topic.ends(backlogs.length);
    Set<Integer> standing = new TreeSet<>();
    boolean moved = false;
    for (Map.Entry<Integer, Long> end : now.entrySet()) {
      int partition = end.getKey();
      PartitionView view = views.apply(partition);
      if (view == null) {
        backlogs[partition].forget();
        folded[partition] = -1;
        moved |= isComing.test(partition);
        continue;
      }
      long taken = view.appliedOffset();
      boolean stands = taken == folded[partition] && taken + 1 < end.getValue();
      moved |= taken != folded[partition] || end.getValue() != ends[partition] || stands;
      if (stands) {
        standing.add(partition);
      } else {
        backlogs[partition].note(end.getValue(), taken + 1, askedNanos);
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
              backlogs[partition].note(
                  ends[partition], Math.min(first, ends[partition]), askedNanos);
            });
  }

  long records(int partition) {
    return Math.max(0, backlogs[partition].records());
  }

  /** Whether a partition is caught up and close behind the log. */
  boolean keepsUp(int partition) {
    return views.apply(partition) != null && backlogs[partition].keepsUp(System.nanoTime());
  }

  /** How long what is not applied may have waited, 0 = nothing waits as far as is known. */
  long ageMs(int partition) {
    return TimeUnit.NANOSECONDS.toMillis(backlogs[partition].ageNanos(System.nanoTime()));
  }

  /** Records applied, of those seen in the log since the first look. */
  PartitionProgress progress(int partition) {
    return new PartitionProgress(
        PartitionProgress.Phase.CATCHING_UP,
        backlogs[partition].done(),
        backlogs[partition].total(),
        0);
  }

  /** Whether a partition was close to the log's end since its table was loaded. */
  boolean wasClose(int partition) {
    return backlogs[partition].wasClose();
  }

  /**
   * Why a partition keeps this replica from being ready, null = it does not. What was visible
   * before a restart must be visible again first; later some lag is no reason to send routers away.
   */
  @Nullable String tooFarBehind(int partition) {
    long records = backlogs[partition].records();
    boolean unknown = records == PartitionBacklog.UNKNOWN;
    return unknown || !wasClose(partition)
        ? "partition "
            + partition
            + " is "
            + (unknown ? "not measured yet" : records + " records behind")
        : null;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
