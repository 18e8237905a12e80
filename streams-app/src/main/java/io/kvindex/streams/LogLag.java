// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * How far the tables are behind the log: its end against what this process has taken, or, for
 * partitions of others, what was committed. Refreshed by one thread, read by any.
 */
final class LogLag implements AutoCloseable {

  private static final long READY_WITHIN = 1_000;
  private static final long UNKNOWN = -1;
  private static final long ANSWER_MS = 5_000;

  private final Admin admin;
  private final String applicationId;
  private final int partitions;
  private final Map<Integer, PartitionView> views;
  private final AtomicLongArray behind;

  /** Where the log ended when it was first looked at: up to there everything must be visible. */
  private final Map<Integer, Long> firstEnds = new ConcurrentHashMap<>();

  private final Set<Integer> caughtUp = ConcurrentHashMap.newKeySet();

  LogLag(
      IndexerConfig config,
      int partitions,
      Map<Integer, PartitionView> views,
      MeterRegistry metrics) {
    this.admin = Admin.create(new HashMap<>(config.kafka()));
    this.applicationId = config.applicationId();
    this.partitions = partitions;
    this.views = views;
    this.behind = new AtomicLongArray(partitions);
    for (int i = 0; i < partitions; i++) {
      int partition = i;
      behind.set(i, UNKNOWN);
      Gauge.builder("kvindex.kafka.lag", () -> Math.max(0, behind.get(partition)))
          .tag("partition", Integer.toString(i))
          .description("records of the events topic not applied yet")
          .register(metrics);
    }
  }

  long records(int partition) {
    return Math.max(0, behind.get(partition));
  }

  boolean caughtUp(int partition) {
    return caughtUp.contains(partition);
  }

  /**
   * The partition that keeps this replica from being ready, null = none. What was visible before a
   * restart must be visible again first; later some lag is no reason to send routers away.
   */
  @Nullable String tooFarBehind() {
    for (int i = 0; i < partitions; i++) {
      long records = behind.get(i);
      if (records == UNKNOWN || records > READY_WITHIN || !caughtUp.contains(i)) {
        return "partition "
            + i
            + " is "
            + (records == UNKNOWN ? "not measured yet" : records + " records behind");
      }
    }
    return null;
  }

  void refresh() {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    for (int i = 0; i < partitions; i++) {
      wanted.put(new TopicPartition(Topics.EVENTS, i), OffsetSpec.latest());
    }
    try {
      Map<TopicPartition, OffsetAndMetadata> committed =
          admin
              .listConsumerGroupOffsets(applicationId)
              .partitionsToOffsetAndMetadata()
              .get(ANSWER_MS, TimeUnit.MILLISECONDS);
      admin
          .listOffsets(wanted)
          .all()
          .get(ANSWER_MS, TimeUnit.MILLISECONDS)
          .forEach(
              (partition, end) -> {
                OffsetAndMetadata done = committed.get(partition);
                PartitionView view = views.get(partition.partition());
                long taken = view == null ? 0 : view.takenOffset() + 1;
                long from = Math.max(taken, done == null ? 0 : done.offset());
                note(partition.partition(), end.offset(), from);
              });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("lag not measured", e);
    }
  }

  private void note(int partition, long end, long from) {
    behind.set(partition, Math.max(0, end - from));
    if (from >= firstEnds.computeIfAbsent(partition, p -> end)) {
      caughtUp.add(partition);
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
