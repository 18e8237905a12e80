// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Everything in a topic, of which each record is read and decoded once: tests look again and again
 * until something is there.
 */
final class TopicReader<T> {

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions;
  private final Function<ConsumerRecord<byte[], byte[]>, T> decoder;
  private final List<T> all = new ArrayList<>();

  TopicReader(String bootstrap, String topic, Function<ConsumerRecord<byte[], byte[]>, T> decoder) {
    this.decoder = decoder;
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap,
                "fetch.max.wait.ms",
                "10",
                "reconnect.backoff.max.ms",
                "100"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    partitions =
        consumer.partitionsFor(topic).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** All there is now, each partition's in order. */
  synchronized List<T> read() {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
      consumer.poll(Duration.ofMillis(50)).forEach(record -> all.add(decoder.apply(record)));
    }
    return List.copyOf(all);
  }
}
