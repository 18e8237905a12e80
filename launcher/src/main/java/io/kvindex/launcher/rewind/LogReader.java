// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
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
                // What retention takes away while we read shows as a hole.
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest"));
  }

  /**
   * Takes records as they come; {@code position} = offset of the next one, of several partitions
   * the sum.
   */
  interface Sink {
    void take(ConsumerRecord<byte[], byte[]> record);

    default void at(long position) {}

    /** All is read up to there. */
    default void end(long to) {}
  }

  /**
   * Reads a partition of the events topic from an offset up to another one, which is not read.
   *
   * @throws IllegalStateException if Kafka is silent for 30 s, or retention takes records away
   *     before they are read
   */
  void events(int partition, long from, long to, Sink sink) {
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      consumer.assign(List.of(events));
      consumer.seek(events, from);
      read(consumer, Map.of(events, to), new Unbroken(events, from, sink));
    }
  }

  /**
   * Reads all partitions of a compacted topic to their present end. Side by side: one after the
   * other each would wait until the fetch for the one before it, which has no more, is over.
   */
  void whole(String topic, int partitions, Sink sink) {
    List<TopicPartition> parts =
        IntStream.range(0, partitions).mapToObj(i -> new TopicPartition(topic, i)).toList();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      consumer.assign(parts);
      consumer.seekToBeginning(parts);
      read(consumer, consumer.endOffsets(parts, SILENCE), sink);
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer() {
    return new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Passes on records of a topic without holes: nothing but retention deletes from it. */
  static final class Unbroken implements Sink {
    private final TopicPartition part;
    private final Sink sink;
    private long next;

    Unbroken(TopicPartition part, long from, Sink sink) {
      this.part = part;
      this.next = from;
      this.sink = sink;
    }

    @Override
    public void take(ConsumerRecord<byte[], byte[]> record) {
      requireNext(record.offset());
      next++;
      sink.take(record);
    }

    @Override
    public void at(long position) {
      sink.at(position);
    }

    @Override
    public void end(long to) {
      requireNext(to);
    }

    private void requireNext(long offset) {
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

  /**
   * Reads on from where the consumer stands.
   *
   * @param ends what is read of each partition: up to there
   */
  static void read(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends, Sink sink) {
    long heardNanos = System.nanoTime();
    long to = ends.values().stream().mapToLong(Long::longValue).sum();
    long position = position(consumer, ends);
    while (position < to) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (record.offset() < end(ends, new TopicPartition(record.topic(), record.partition()))) {
          sink.take(record);
        }
      }
      long reached = position(consumer, ends);
      if (reached > position) {
        heardNanos = System.nanoTime();
        position = reached;
        sink.at(position);
      } else if (System.nanoTime() - heardNanos > SILENCE.toNanos()) {
        throw new IllegalStateException(
            ends.keySet() + " are silent at offset " + position + " of " + to);
      }
    }
    sink.end(to);
  }

  /** Offset of the next record, none beyond the end; of all partitions together. */
  private static long position(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
    return ends.keySet().stream()
        .mapToLong(part -> Math.min(consumer.position(part, SILENCE), end(ends, part)))
        .sum();
  }

  private static long end(Map<TopicPartition, Long> ends, TopicPartition part) {
    return Objects.requireNonNull(ends.get(part));
  }
}
