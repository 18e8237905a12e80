// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** What Kafka says of the log. Each question waits for 5 s at most. Thread-safe. */
public final class LogTopic implements AutoCloseable {

  private static final int ANSWER_MS = 5_000;

  private final Admin admin;
  private final String name;

  /**
   * @param admin closed with this object
   */
  public LogTopic(Admin admin, String name) {
    this.admin = admin;
    this.name = name;
  }

  /**
   * The topic's id, another one after it was deleted and created again.
   *
   * @throws KafkaException if Kafka does not say
   */
  public Uuid id() {
    KafkaFuture<TopicDescription> answer =
        admin
            .describeTopics(List.of(name), new DescribeTopicsOptions().timeoutMs(ANSWER_MS))
            .topicNameValues()
            .get(name);
    return get(Objects.requireNonNull(answer)).topicId();
  }

  /**
   * The offset the next record of each partition will have; those that nobody leads at the moment
   * are left out.
   *
   * @param partitions how many there are
   * @throws KafkaException if the calling thread is interrupted
   */
  public Map<Integer, Long> ends(int partitions) {
    return offsets(IntStream.range(0, partitions).boxed().toList(), OffsetSpec.latest());
  }

  /**
   * The offset of the first record each partition still has; those that nobody leads at the moment
   * are left out.
   *
   * @throws KafkaException if the calling thread is interrupted
   */
  public Map<Integer, Long> starts(Collection<Integer> partitions) {
    return offsets(partitions, OffsetSpec.earliest());
  }

  private Map<Integer, Long> offsets(Collection<Integer> partitions, OffsetSpec which) {
    Map<TopicPartition, OffsetSpec> questions = new HashMap<>();
    partitions.forEach(p -> questions.put(new TopicPartition(name, p), which));
    ListOffsetsResult answers =
        admin.listOffsets(questions, new ListOffsetsOptions().timeoutMs(ANSWER_MS));
    Map<Integer, Long> offsets = new HashMap<>();
    for (TopicPartition partition : questions.keySet()) {
      try {
        offsets.put(partition.partition(), get(answers.partitionResult(partition)).offset());
      } catch (KafkaException e) {
        if (Thread.currentThread().isInterrupted()) {
          throw e;
        }
      }
    }
    return offsets;
  }

  private <T> T get(KafkaFuture<T> answer) {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while Kafka was asked for " + name, e);
    } catch (ExecutionException e) {
      throw new KafkaException("Kafka does not say how it is with " + name, e.getCause());
    }
  }

  @Override
  public void close() {
    // What it asks of a Kafka that is away would be waited for a minute.
    admin.close(Duration.ofSeconds(1));
  }
}
