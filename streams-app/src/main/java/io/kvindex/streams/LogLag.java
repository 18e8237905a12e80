// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the tables are behind the log: its end against what this process has taken, or, for
 * partitions of others, what was committed. Refreshed by one thread, read by any.
 */
final class LogLag implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LogLag.class);
  private static final long READY_WITHIN = 1_000;
  private static final long ANSWER_MS = 5_000;

  /** Kafka's word for a time nothing was written since. */
  private static final long NONE = -1;

  /** The last offset of a changelog is its last transaction's marker, which is no row. */
  private static final long COMMIT_MARKER = 1;

  private final Admin admin;
  private final String applicationId;
  private final String changelog;
  private final int partitions;
  private final LocalViews views;
  private final RestoreWatch restores;
  private final List<PartitionBacklog> backlogs;
  private final MissedDeletions deletions;

  LogLag(
      IndexerConfig config,
      int partitions,
      LocalViews views,
      RestoreWatch restores,
      BiConsumer<Integer, Duration> missedDeletions,
      MeterRegistry metrics) {
    this.admin = Admin.create(ClientKind.ADMIN.settings(config.kafka(), Map.of()));
    this.applicationId = config.applicationId();
    this.partitions = partitions;
    this.views = views;
    this.restores = restores;
    this.deletions = new MissedDeletions(this::firstSince, missedDeletions);
    this.changelog = IndexTopology.changelogOf(applicationId);
    this.backlogs =
        Stream.generate(() -> new PartitionBacklog(config.tolerance().maxLag()))
            .limit(partitions)
            .toList();
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
    return backlogs.get(partition).keepsUp(System.nanoTime());
  }

  /** How long what is not applied may have waited, 0 = nothing waits as far as is known. */
  long ageMs(int partition) {
    return TimeUnit.NANOSECONDS.toMillis(backlogs.get(partition).ageNanos(System.nanoTime()));
  }

  /** Records applied, of those seen in the log since the first look. */
  PartitionProgress progress(int partition) {
    PartitionBacklog backlog = backlogs.get(partition);
    return new PartitionProgress(
        PartitionProgress.Phase.CATCHING_UP, backlog.done(), backlog.total(), 0);
  }

  /**
   * The partition that keeps this replica from being ready, null = none. What was visible before a
   * restart must be visible again first; later some lag is no reason to send routers away.
   */
  @Nullable String tooFarBehind() {
    for (int i = 0; i < partitions; i++) {
      String reason = tooFarBehind(i);
      if (reason != null) {
        return reason;
      }
    }
    return null;
  }

  /** The same for one partition. */
  @Nullable String tooFarBehind(int partition) {
    PartitionBacklog backlog = backlogs.get(partition);
    long records = backlog.records();
    boolean unknown = records == PartitionBacklog.UNKNOWN;
    return unknown || records > READY_WITHIN || !backlog.caughtUp()
        ? "partition "
            + partition
            + " is "
            + (unknown ? "not measured yet" : records + " records behind")
        : null;
  }

  /**
   * Looks at the log.
   *
   * @param now the wall clock
   * @throws IllegalStateException if Kafka does not answer: what is known grows old by itself
   */
  void refresh(Instant now) {
    lookForMissed(now);
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    for (int i = 0; i < partitions; i++) {
      wanted.put(new TopicPartition(Topics.EVENTS, i), OffsetSpec.latest());
      RestoreWatch.Reading reading = restores.reading(i);
      if (reading != null && reading.standby()) {
        wanted.put(new TopicPartition(changelog, i), OffsetSpec.latest());
      }
    }
    Map<TopicPartition, OffsetAndMetadata> committed =
        answer(admin.listConsumerGroupOffsets(applicationId).partitionsToOffsetAndMetadata());
    Map<TopicPartition, ListOffsetsResultInfo> ends = answer(admin.listOffsets(wanted).all());
    for (int i = 0; i < partitions; i++) {
      TopicPartition events = new TopicPartition(Topics.EVENTS, i);
      OffsetAndMetadata done = committed.get(events);
      ListOffsetsResultInfo rows = ends.get(new TopicPartition(changelog, i));
      long from = applied(i, done == null ? 0 : done.offset(), rows == null ? -1 : rows.offset());
      long end = Objects.requireNonNull(ends.get(events)).offset();
      backlogs.get(i).note(end, from, System.nanoTime());
    }
  }

  private static <T> T answer(KafkaFuture<T> future) {
    try {
      return future.get(ANSWER_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while measuring lag", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("lag not measured", e);
    }
  }

  /**
   * Before lag is noted: rows that lack deletions must not count as kept up. Each changelog for
   * itself: who answers for one that nobody leads now is no reason not to look at the others.
   */
  private void lookForMissed(Instant now) {
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    for (int i = 0; i < partitions; i++) {
      RestoreWatch.Reading reading = restores.reading(i);
      if (reading == null) {
        deletions.ofOther(i, now);
      } else if (reading.standby()) {
        deletions.reached(i, reading.position(), now);
        ends.put(new TopicPartition(changelog, i), OffsetSpec.latest());
      }
    }
    ListOffsetsResult answers = admin.listOffsets(ends);
    for (TopicPartition rows : ends.keySet()) {
      try {
        long end = answer(answers.partitionResult(rows)).offset();
        RestoreWatch.Reading reading = restores.reading(rows.partition());
        if (reading != null) {
          deletions.ofCopy(rows.partition(), reading.position(), end, now);
        }
      } catch (IllegalStateException e) {
        LOG.debug("the end of {} is not known", rows, e);
      }
    }
  }

  private long firstSince(int partition, Instant time) {
    TopicPartition rows = new TopicPartition(changelog, partition);
    long young = offset(rows, OffsetSpec.forTimestamp(time.toEpochMilli()));
    return young == NONE ? offset(rows, OffsetSpec.latest()) : young;
  }

  private long offset(TopicPartition of, OffsetSpec which) {
    return answer(admin.listOffsets(Map.of(of, which)).partitionResult(of)).offset();
  }

  /**
   * The first record of the log that the answers given here do not have.
   *
   * @param committed the first one the partition's owner has not committed
   * @param rowsEnd end of the changelog if the partition is a standby here, else -1
   */
  private long applied(int partition, long committed, long rowsEnd) {
    PartitionView view = views.served().get(partition);
    if (view == null) {
      return committed;
    }
    if (view.state() == PartitionView.State.CLOSED) {
      return view.appliedOffset() + 1;
    }
    RestoreWatch.Reading reading = restores.reading(partition);
    boolean lacksRows =
        rowsEnd >= 0 && reading != null && reading.position() + COMMIT_MARKER < rowsEnd;
    if (lacksRows) {
      // Rows of another one's transaction that hangs are not to be had until it is ended.
      return Math.min(committed, view.appliedOffset() + 1);
    }
    return Math.max(view.takenOffset() + 1, committed);
  }

  @Override
  public void close() {
    // What it asks of a Kafka that is away would be waited for a minute.
    admin.close(Duration.ofSeconds(1));
  }
}
