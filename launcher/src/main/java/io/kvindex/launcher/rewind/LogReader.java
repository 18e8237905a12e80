// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads stretches of topics once, in order, without being member of a group. */
final class LogReader {

  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration SILENCE = Duration.ofSeconds(30);

  private final Map<String, Object> kafka;

  /**
   * @param site settings of all Kafka clients, see {@link ClientKind}
   */
  LogReader(Map<String, Object> site) {
    kafka =
        ClientKind.CONSUMER.settings(
            site,
            Map.of(
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                false,
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                5_000,
                // What retention takes away while we read is left out, and said.
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest"));
  }

  /** Takes records as they come; {@code position} = offset of the next one. */
  interface Sink {
    void take(ConsumerRecord<byte[], byte[]> record);

    default void at(long position) {}
  }

  /**
   * Reads a partition of the events topic from an offset up to another one, which is not read.
   *
   * @throws IllegalStateException if Kafka is silent for 30 s
   */
  void events(int partition, long from, long to, Sink sink) {
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      consumer.assign(List.of(events));
      consumer.seek(events, from);
      read(consumer, events, to, sink);
    }
  }

  /** Reads all partitions of a compacted topic to their present end. */
  void whole(String topic, int partitions, Sink sink) {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      for (int i = 0; i < partitions; i++) {
        TopicPartition part = new TopicPartition(topic, i);
        consumer.assign(List.of(part));
        consumer.seekToBeginning(List.of(part));
        Long end = consumer.endOffsets(List.of(part), SILENCE).get(part);
        read(consumer, part, Objects.requireNonNull(end), sink);
      }
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer() {
    return new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private static void read(
      KafkaConsumer<byte[], byte[]> consumer, TopicPartition part, long to, Sink sink) {
    long heardNanos = System.nanoTime();
    long position = consumer.position(part, SILENCE);
    while (position < to) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (record.offset() < to) {
          sink.take(record);
        }
      }
      long reached = consumer.position(part, SILENCE);
      if (reached > position) {
        heardNanos = System.nanoTime();
        position = reached;
        sink.at(position);
      } else if (System.nanoTime() - heardNanos > SILENCE.toNanos()) {
        throw new IllegalStateException(part + " is silent at offset " + position + " of " + to);
      }
    }
  }
}
