// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Plain Kafka clients for the broker tests. */
final class BrokerClient {
  private BrokerClient() {}

  static void createTopic(String bootstrap, String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      admin
          .createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())))
          .all()
          .get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
  }

  static KafkaProducer<String, String> producer(String bootstrap) {
    return new KafkaProducer<>(
        Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", 0),
        new StringSerializer(),
        new StringSerializer());
  }

  static void send(String bootstrap, String topic, int from, int to) throws Exception {
    try (KafkaProducer<String, String> producer = producer(bootstrap)) {
      for (int i = from; i < to; i++) {
        producer.send(new ProducerRecord<>(topic, "k", Integer.toString(i))).get();
      }
    }
  }

  /** Every record up to the end offset at the time of the call. */
  static List<Integer> readAll(String bootstrap, String topic) {
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "earliest"),
            new StringDeserializer(),
            new StringDeserializer())) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
      List<Integer> values = new ArrayList<>();
      while (consumer.position(partition) < end) {
        consumer.poll(Duration.ofMillis(200)).forEach(r -> values.add(Integer.valueOf(r.value())));
      }
      return values;
    }
  }
}
