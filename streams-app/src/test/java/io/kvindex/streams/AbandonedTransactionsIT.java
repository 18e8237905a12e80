// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A replica was killed amid a commit; Kafka itself would wait ten minutes for it here. */
@Tag("broker")
@Timeout(180)
class AbandonedTransactionsIT {

  private static final int PARTITION = 0;

  @TempDir private Path dir;

  @Test
  void shouldTakeOver_whenTheOneBeforeDiedAmidACommit() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      String servers = broker.bootstrapServers();
      LogFeed feed = new LogFeed(servers, 5);
      feed.send(50);
      try (KafkaProducer<byte[], byte[]> dead = beginCommit(servers);
          IndexerApp app =
              IndexerApp.start(
                  IndexerConfig.at(servers, dir.resolve("tables")).alone("two"),
                  1,
                  new SimpleMeterRegistry())) {
        feed.send(50);
        until(() -> feed.isSeenBy(app), "all records");
      }
    }
  }

  /** What has sent its offsets and never ends its transaction. */
  private static KafkaProducer<byte[], byte[]> beginCommit(String servers) {
    String application = IndexerConfig.DEFAULT_APPLICATION;
    KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                servers,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                application + "-" + UUID.randomUUID() + "-1",
                ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
                600_000),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    producer.initTransactions();
    producer.beginTransaction();
    producer.sendOffsetsToTransaction(
        Map.of(new TopicPartition(Topics.EVENTS, PARTITION), new OffsetAndMetadata(1)),
        new ConsumerGroupMetadata(application));
    return producer;
  }
}
