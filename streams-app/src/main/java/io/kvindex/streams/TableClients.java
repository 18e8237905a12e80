// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.KafkaClientSupplier;

/** The clients of Kafka Streams: the usual ones, with a {@link TableProducer}. */
final class TableClients implements KafkaClientSupplier {

  private final Counter ended;
  private final ReadingPlace place;

  /**
   * @param place told of the consumers of stream threads
   */
  TableClients(MeterRegistry metrics, ReadingPlace place) {
    this.place = place;
    ended =
        Counter.builder("kvindex.transactions.ended")
            .description("transactions of tables that Kafka ended because they took too long")
            .register(metrics);
  }

  @Override
  public Admin getAdmin(Map<String, Object> config) {
    return Admin.create(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    return new TableProducer(config, ended::increment);
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    TableConsumer consumer = new TableConsumer(config);
    place.note(config, consumer);
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
