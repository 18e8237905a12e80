// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.TaskPlace;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.KafkaClientSupplier;

/**
 * The clients of Kafka Streams: the usual ones, with a {@link TableProducer} and a {@link
 * TableConsumer} for each thread. Thread-safe.
 */
final class TableClients implements KafkaClientSupplier {

  private final Counter ended;
  private final Counter torn;
  private final ReadingPlace place;
  private final ByThread<TableConsumer> consumers = new ByThread<>("-consumer");
  private final ByThread<TableProducer> producers = new ByThread<>("-producer");

  TableClients(MeterRegistry metrics) {
    place = new ReadingPlace(metrics);
    ended =
        Counter.builder("kvindex.transactions.ended")
            .description("transactions of tables that Kafka ended because they took too long")
            .register(metrics);
    torn =
        Counter.builder("kvindex.transactions.torn")
            .description("transactions refused because rows before them were given up")
            .register(metrics);
  }

  /**
   * To be called by a stream thread before its task takes the first record of a partition, whose
   * rows are those of the changelog. Never waits.
   *
   * @param applied offset of the newest record the rows have something of, -1 = none
   */
  TaskPlace.Start taskBegins(int partition, long applied) {
    TableProducer producer = producers.ofThisThread();
    if (producer != null) {
      producer.taskBegins(partition);
    }
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    TableConsumer consumer =
        Objects.requireNonNull(consumers.ofThisThread(), "no consumer of this thread");
    return place.toCommitted(consumer, events, consumer.takeCommitted(events), applied);
  }

  @Override
  public Admin getAdmin(Map<String, Object> config) {
    return Admin.create(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    TableProducer producer = new TableProducer(config, ended::increment, torn::increment);
    producers.note(config, producer);
    return producer;
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    TableConsumer consumer = new TableConsumer(config);
    consumers.note(config, consumer);
    return consumer;
  }

  private static Consumer<byte[], byte[]> consumer(Map<String, Object> config) {
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
    return consumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
    return consumer(config);
  }
}
