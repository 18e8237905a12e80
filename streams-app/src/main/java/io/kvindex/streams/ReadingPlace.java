// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where stream threads read the log on when a task begins: at what was committed with its rows.
 *
 * <p>Kafka Streams 4.3.1 sees to that as well, but for one case: an active task whose rows are
 * thrown away while it runs is made again, and remembers that its partition has to be read again
 * from there. If a rebalance comes before it is initialised, which it asks for itself, it is closed
 * and another one made that does not know ({@code TaskManager.handleTasksPendingInitialization}).
 * What was fetched for the first one would never be read again. Thread-safe.
 */
final class ReadingPlace {

  private static final Logger LOG = LoggerFactory.getLogger(ReadingPlace.class);
  private static final String SUFFIX = "-consumer";

  /** By the name of the stream thread. */
  private final Map<String, Consumer<byte[], byte[]>> consumers = new ConcurrentHashMap<>();

  private final Counter again;

  ReadingPlace(MeterRegistry metrics) {
    again =
        Counter.builder("kvindex.log.records.again")
            .description("records that were fetched for a task that ended before it took them")
            .register(metrics);
  }

  /** Notes the consumer of a thread that is about to be started. */
  void note(Map<String, Object> config, Consumer<byte[], byte[]> consumer) {
    String client = String.valueOf(config.get(ConsumerConfig.CLIENT_ID_CONFIG));
    if (client.endsWith(SUFFIX)) {
      consumers.put(client.substring(0, client.length() - SUFFIX.length()), consumer);
    }
  }

  /**
   * To be called by a stream thread before its task takes the first record of a partition.
   *
   * @throws org.apache.kafka.common.KafkaException if Kafka does not say what was committed
   */
  void toCommitted(int partition) {
    toCommitted(
        Objects.requireNonNull(
            consumers.get(Thread.currentThread().getName()), "no consumer of this thread"),
        new TopicPartition(Topics.EVENTS, partition));
  }

  void toCommitted(Consumer<byte[], byte[]> consumer, TopicPartition partition) {
    OffsetAndMetadata committed = consumer.committed(Set.of(partition)).get(partition);
    if (committed == null) {
      consumer.seekToBeginning(List.of(partition));
      return;
    }
    long position = consumer.position(partition);
    if (position != committed.offset()) {
      LOG.warn(
          "{} is read on at {}, where its rows are, not at {}",
          partition,
          committed.offset(),
          position);
      again.increment(Math.max(0, position - committed.offset()));
      consumer.seek(partition, committed.offset());
    }
  }
}
