// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Reads and writes the site's record in the compacted topics. */
final class SiteLog extends SiteCopies {

  private static final Duration POLL = Duration.ofMillis(200);

  /** Where it is. */
  static final List<TopicPartition> COPIES =
      List.of(
          new TopicPartition(Topics.REGISTRATIONS, 0),
          new TopicPartition(Topics.BRIDGE_PROGRESS, 0));

  private final Map<String, Object> kafka;
  private final Duration timeout;
  private final List<TopicPartition> all;

  /**
   * @param all partitions of the topics whose records are counted
   */
  SiteLog(Map<String, Object> kafka, Duration timeout, List<TopicPartition> all) {
    this.kafka = Map.copyOf(kafka);
    this.timeout = timeout;
    this.all = List.copyOf(all);
  }

  @Override
  SiteContent read() throws TimeoutException {
    Map<String, Object> config =
        ClientKind.CONSUMER.settings(
            kafka,
            Map.of(
                "enable.auto.commit",
                false,
                "allow.auto.create.topics",
                false,
                "fetch.max.wait.ms",
                10));
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      // The client warns of each partition whose end it learns of without having it.
      consumer.assign(all);
      // The ends first: who writes the record meanwhile then is either not counted, or read.
      Map<TopicPartition, Long> ends = consumer.endOffsets(all, timeout);
      Map<String, Long> records = new HashMap<>();
      ends.forEach((partition, end) -> records.merge(partition.topic(), end, Long::sum));
      return SiteContent.of(copies(consumer, ends), records);
    }
  }

  private Map<TopicPartition, SiteContent.Copy> copies(
      KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends)
      throws TimeoutException {
    consumer.assign(COPIES);
    consumer.seekToBeginning(COPIES);
    Map<TopicPartition, SiteContent.Copy> found = new HashMap<>();
    long deadline = System.nanoTime() + timeout.toNanos();
    while (COPIES.stream()
        .anyMatch(copy -> consumer.position(copy, timeout) < ends.getOrDefault(copy, 0L))) {
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException("the compacted topics were not read to their end in " + timeout);
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (SiteRecord.isKey(record.key()) && record.value() != null) {
          found
              .computeIfAbsent(
                  new TopicPartition(record.topic(), record.partition()),
                  copy -> new SiteContent.Copy())
              .take(SiteRecord.decode(record.value()));
        }
      }
    }
    return found;
  }

  @Override
  void write(SiteRecord record) throws InterruptedException, ExecutionException, TimeoutException {
    Map<String, Object> config =
        ClientKind.PRODUCER.settings(kafka, Map.of(ProducerConfig.ACKS_CONFIG, "all"));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
      List<Future<?>> sent = new ArrayList<>();
      for (TopicPartition copy : COPIES) {
        sent.add(
            producer.send(
                new ProducerRecord<>(
                    copy.topic(), copy.partition(), SiteRecord.key(), record.encode())));
      }
      for (Future<?> one : sent) {
        one.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }
}
