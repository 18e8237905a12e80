// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks Kafka for offsets, and never waits long for them. For one thread. */
final class LogOffsets implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LogOffsets.class);

  /**
   * What is known of the others must not grow old while one partition has no leader, or the group
   * no coordinator: three times this is less than the default of {@code --max-lag}.
   */
  private static final int ANSWER_MS = 500;

  /** Kafka's word for a time nothing was written since. */
  private static final long NOTHING_SINCE = -1;

  private final Admin admin;
  private final String group;

  /**
   * @param admin closed with this object
   * @param group whose places are asked for
   */
  LogOffsets(Admin admin, String group) {
    this.admin = admin;
    this.group = group;
  }

  /**
   * Where partitions end. Each is asked for by itself: those that nobody leads at the moment are
   * left out.
   */
  Map<TopicPartition, Long> ends(Collection<TopicPartition> of) {
    ListOffsetsResult answers =
        admin.listOffsets(
            of.stream().collect(Collectors.toMap(p -> p, p -> OffsetSpec.latest())),
            new ListOffsetsOptions().timeoutMs(ANSWER_MS));
    Map<TopicPartition, Long> ends = new HashMap<>();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWER_MS);
    for (TopicPartition partition : of) {
      try {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        ends.put(
            partition, answer(answers.partitionResult(partition), Math.max(0, leftMs)).offset());
      } catch (IllegalStateException e) {
        LOG.debug("the end of {} is not known", partition, e);
      }
    }
    return ends;
  }

  /** What the group has committed, null = its coordinator does not say. */
  @Nullable Map<TopicPartition, OffsetAndMetadata> committed() {
    try {
      return answer(
          admin
              .listConsumerGroupOffsets(
                  group, new ListConsumerGroupOffsetsOptions().timeoutMs(ANSWER_MS))
              .partitionsToOffsetAndMetadata(),
          ANSWER_MS);
    } catch (IllegalStateException e) {
      LOG.debug("what is committed is not known", e);
      return null;
    }
  }

  /**
   * Where a partition begins.
   *
   * @throws IllegalStateException if Kafka does not say
   */
  long start(TopicPartition of) {
    return offset(of, OffsetSpec.earliest());
  }

  /**
   * Looks a time up.
   *
   * @return offset of the first record that is not older, or the end if there is none
   * @throws IllegalStateException if Kafka does not say
   */
  long firstSince(TopicPartition of, Instant time) {
    long young = offset(of, OffsetSpec.forTimestamp(time.toEpochMilli()));
    return young == NOTHING_SINCE ? offset(of, OffsetSpec.latest()) : young;
  }

  private long offset(TopicPartition of, OffsetSpec which) {
    ListOffsetsOptions options = new ListOffsetsOptions().timeoutMs(ANSWER_MS);
    return answer(admin.listOffsets(Map.of(of, which), options).partitionResult(of), ANSWER_MS)
        .offset();
  }

  private static <T> T answer(KafkaFuture<T> future, long waitMs) {
    try {
      return future.get(waitMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while Kafka was asked", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("Kafka did not answer", e);
    }
  }

  @Override
  public void close() {
    // What it asks of a Kafka that is away would be waited for a minute.
    admin.close(Duration.ofSeconds(1));
  }
}
