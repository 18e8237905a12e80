// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
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
  private static final long ANSWER_MS = 5_000;

  private final Admin admin;
  private final String applicationId;
  private final int partitions;
  private final Map<Integer, PartitionView> views;
  private final List<PartitionBacklog> backlogs;

  LogLag(
      IndexerConfig config,
      int partitions,
      Map<Integer, PartitionView> views,
      MeterRegistry metrics) {
    this.admin = Admin.create(new HashMap<>(config.kafka()));
    this.applicationId = config.applicationId();
    this.partitions = partitions;
    this.views = views;
    this.backlogs = Stream.generate(PartitionBacklog::new).limit(partitions).toList();
    for (int i = 0; i < partitions; i++) {
      int partition = i;
      Gauge.builder("kvindex.kafka.lag", () -> records(partition))
          .tag("partition", Integer.toString(i))
          .description("records of the events topic not applied yet")
          .register(metrics);
    }
  }

  long records(int partition) {
    return Math.max(0, backlogs.get(partition).records());
  }

  boolean keepsUp(int partition) {
    return backlogs.get(partition).keepsUp();
  }

  /**
   * The partition that keeps this replica from being ready, null = none. What was visible before a
   * restart must be visible again first; later some lag is no reason to send routers away.
   */
  @Nullable String tooFarBehind() {
    for (int i = 0; i < partitions; i++) {
      PartitionBacklog backlog = backlogs.get(i);
      long records = backlog.records();
      boolean unknown = records == PartitionBacklog.UNKNOWN;
      if (unknown || records > READY_WITHIN || !backlog.caughtUp()) {
        return "partition "
            + i
            + " is "
            + (unknown ? "not measured yet" : records + " records behind");
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
                backlogs.get(partition.partition()).note(end.offset(), from, System.nanoTime());
              });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      backlogs.forEach(backlog -> backlog.unseen(System.nanoTime()));
      throw new IllegalStateException("lag not measured", e);
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
