// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.topic.Topics;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Asks Kafka what the events topic still has. */
public final class EventLog {

  private static final long ANSWER_MS = 30_000;

  private final Admin admin;

  /**
   * @param admin stays the caller's
   */
  public EventLog(Admin admin) {
    this.admin = admin;
  }

  /** Waits for an answer of Kafka's, 30 s at most. */
  static <T> T answer(KafkaFuture<T> asked) throws InterruptedException {
    try {
      return asked.get(ANSWER_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      String why = String.valueOf(Objects.requireNonNull(e.getCause()).getMessage());
      throw new IllegalStateException("Kafka refused: " + why, e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("Kafka does not answer", e);
    }
  }

  /**
   * All partitions as they are now, in order.
   *
   * @throws IllegalStateException if there is no events topic
   */
  public List<LogPart> parts() throws InterruptedException {
    int count = partitions();
    Map<Integer, ListOffsetsResultInfo> first = offsets(count, OffsetSpec.earliest());
    Map<Integer, ListOffsetsResultInfo> end = offsets(count, OffsetSpec.latest());
    Map<Integer, ListOffsetsResultInfo> oldest = offsets(count, OffsetSpec.forTimestamp(0));
    return IntStream.range(0, count)
        .mapToObj(
            i -> {
              ListOffsetsResultInfo of = Objects.requireNonNull(oldest.get(i));
              return new LogPart(
                  i,
                  Objects.requireNonNull(first.get(i)).offset(),
                  Objects.requireNonNull(end.get(i)).offset(),
                  of.offset() < 0 ? null : Instant.ofEpochMilli(of.timestamp()));
            })
        .toList();
  }

  /**
   * What a topic is made of.
   *
   * @param partitions at least 1
   * @param copies of each record, itself included
   */
  public record Shape(int partitions, short copies) {}

  private int partitions() throws InterruptedException {
    return shape().partitions();
  }

  /**
   * How it was made.
   *
   * @throws IllegalStateException if there is no events topic
   */
  public Shape shape() throws InterruptedException {
    try {
      Map<String, TopicDescription> found =
          answer(admin.describeTopics(List.of(Topics.EVENTS)).allTopicNames());
      List<TopicPartitionInfo> partitions =
          Objects.requireNonNull(found.get(Topics.EVENTS)).partitions();
      return new Shape(partitions.size(), (short) partitions.get(0).replicas().size());
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        throw new IllegalStateException(
            "there is no topic " + Topics.EVENTS + " in that cluster: nothing to go back to", e);
      }
      throw e;
    }
  }

  /** Offset of the first record at or after a moment, by partition; none = no such record. */
  public Map<Integer, Long> from(Instant time, int partitions) throws InterruptedException {
    Map<Integer, Long> found = new TreeMap<>();
    offsets(partitions, OffsetSpec.forTimestamp(time.toEpochMilli()))
        .forEach(
            (partition, info) -> {
              if (info.offset() >= 0) {
                found.put(partition, info.offset());
              }
            });
    return found;
  }

  private Map<Integer, ListOffsetsResultInfo> offsets(int partitions, OffsetSpec which)
      throws InterruptedException {
    Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
    for (int i = 0; i < partitions; i++) {
      asked.put(new TopicPartition(Topics.EVENTS, i), which);
    }
    Map<Integer, ListOffsetsResultInfo> found = new TreeMap<>();
    answer(admin.listOffsets(asked).all())
        .forEach((partition, info) -> found.put(partition.partition(), info));
    return found;
  }
}
