// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;

/**
 * The usual clients of Kafka Streams, with each stream thread's consumer remembered, so that a task
 * can say where it reads on. Needs {@code group.protocol=classic}: with Kafka Streams' own protocol
 * consumers are made elsewhere. Thread-safe.
 */
public final class SeekingClients implements KafkaClientSupplier {

  /** By the client's id, which Kafka Streams makes of the thread's name; of dead threads, too. */
  private final Map<String, Consumer<byte[], byte[]>> consumers = new ConcurrentHashMap<>();

  /**
   * Has the calling stream thread read a partition again from the last record that was folded, or
   * from its beginning. Only {@code Processor.init} may call it: it is the last step before a task
   * takes records, so nothing else moves the place after it, whereas records that were fetched for
   * a task that runs already would still come. Never waits.
   *
   * @param folded offset of the last record folded, -1 = none
   */
  public void seek(TopicPartition partition, long folded) {
    String id = Thread.currentThread().getName() + "-consumer";
    Consumer<byte[], byte[]> consumer = Objects.requireNonNull(consumers.get(id), id);
    if (folded < 0) {
      consumer.seekToBeginning(List.of(partition));
    } else {
      consumer.seek(partition, folded);
    }
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    Consumer<byte[], byte[]> consumer = new LogConsumer(config);
    consumers.put(String.valueOf(config.get(CommonClientConfigs.CLIENT_ID_CONFIG)), consumer);
    return consumer;
  }

  private static Consumer<byte[], byte[]> consumer(Map<String, Object> config) {
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** That of a stream thread; what it fetches is looked through for traced records. */
  private static final class LogConsumer extends KafkaConsumer<byte[], byte[]> {

    LogConsumer(Map<String, Object> config) {
      super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      return Stages.fetched(super.poll(timeout));
    }
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
    return consumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
    return consumer(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public Admin getAdmin(Map<String, Object> config) {
    return Admin.create(config);
  }
}
