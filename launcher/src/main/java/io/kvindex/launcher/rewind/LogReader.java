// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads stretches of the events topic once, in order, without being member of a group. */
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
                // What retention takes away while we read shows as a hole.
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
   * @throws IllegalStateException if Kafka is silent for 30 s, or retention takes records away
   *     before they are read
   */
  void events(int partition, long from, long to, Sink sink) {
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(events));
      consumer.seek(events, from);
      read(consumer, events, from, to, sink);
    }
  }

  /** Reads on from where the consumer stands; nothing but retention makes a hole there. */
  static void read(
      Consumer<byte[], byte[]> consumer, TopicPartition part, long from, long to, Sink sink) {
    long heardNanos = System.nanoTime();
    long next = from;
    while (next < to) {
      long before = next;
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (record.offset() < to) {
          requireNext(part, next, record.offset());
          next++;
          sink.take(record);
        }
      }
      requireNext(part, next, Math.min(to, consumer.position(part, SILENCE)));
      if (next > before) {
        heardNanos = System.nanoTime();
        sink.at(next);
      } else if (System.nanoTime() - heardNanos > SILENCE.toNanos()) {
        throw new IllegalStateException(
            List.of(part) + " are silent at offset " + next + " of " + to);
      }
    }
  }

  private static void requireNext(TopicPartition part, long next, long offset) {
    if (offset > next) {
      throw new IllegalStateException(
          "retention took records "
              + next
              + " to "
              + (offset - 1)
              + " of "
              + part
              + " away while they were read: ask again, and it is said from where on the log is"
              + " whole");
    }
  }
}
