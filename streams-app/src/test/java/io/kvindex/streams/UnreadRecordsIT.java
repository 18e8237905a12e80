// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Retention takes records away while no replica runs. */
@Tag("broker")
@Timeout(120)
class UnreadRecordsIT {

  private static final TopicPartition EVENTS = new TopicPartition(Topics.EVENTS, 0);

  @TempDir private Path dir;

  @Test
  void shouldNameAllAsDegraded_whenRecordsWereDeletedBeforeTheyWereRead() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      String servers = broker.bootstrapServers();
      LogFeed feed = new LogFeed(servers, 11);
      int publishers;
      try (IndexerApp app = start(servers, new SimpleMeterRegistry())) {
        feed.send(200);
        until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "all records");
        publishers = view(app).positions().size();
        assertThat(view(app).degradedPublishers()).hasSizeLessThan(publishers);
      }
      feed.send(50);
      deleteAll(servers);
      feed.send(20);
      SimpleMeterRegistry metrics = new SimpleMeterRegistry();
      try (IndexerApp app = start(servers, metrics)) {
        until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "what was left");
        assertThat(metrics.counter("kvindex.log.records.missing").count()).isGreaterThan(50);
        assertThat(view(app).degradedPublishers().size()).isGreaterThan(3);
        assertThat(metrics.counter("kvindex.log.records.again").count()).isZero();
      }
      SimpleMeterRegistry later = new SimpleMeterRegistry();
      feed.send(5);
      try (IndexerApp app = start(servers, later)) {
        until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "the rest");
        assertThat(later.counter("kvindex.log.records.missing").count()).as("no more").isZero();
      }
    }
  }

  /** Nothing came of the last records, and they are gone now: there is nothing to catch up with. */
  @Test
  void shouldBeReady_whenTheLogBehindTheRowsHasExpired() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      String servers = broker.bootstrapServers();
      LogFeed feed = new LogFeed(servers, 10);
      List<String> answers;
      try (IndexerApp app = start(servers, new SimpleMeterRegistry())) {
        feed.send(50);
        sendRubbish(servers);
        until(() -> feed.isSeenBy(app) && hasTaken(app, end(servers) - 1), "all records");
        answers = feed.answers(app);
      }
      deleteAll(servers);
      try (IndexerApp app = start(servers, new SimpleMeterRegistry())) {
        until(() -> app.notReadyReason() == null && app.keepsUp(0), "ready with nothing to read");
        assertThat(feed.answers(app)).isEqualTo(answers);
      }
    }
  }

  private static boolean hasTaken(IndexerApp app, long offset) {
    return view(app).takenOffset() >= offset;
  }

  private static void sendRubbish(String servers) {
    Map<String, Object> kafka = Map.of("bootstrap.servers", servers);
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(kafka, new StringSerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < 3; i++) {
        producer.send(new ProducerRecord<>(Topics.EVENTS, 0, "rubbish", new byte[] {99}));
      }
    }
  }

  private IndexerApp start(String servers, SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(servers, dir.resolve("tables")).alone("one"), 1, metrics);
  }

  private static PartitionView view(IndexerApp app) {
    return Objects.requireNonNull(app.view(0));
  }

  private static long end(String servers) {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      return admin
          .listOffsets(Map.of(EVENTS, OffsetSpec.latest()))
          .partitionResult(EVENTS)
          .get(10, TimeUnit.SECONDS)
          .offset();
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void deleteAll(String servers) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      admin
          .deleteRecords(Map.of(EVENTS, RecordsToDelete.beforeOffset(end(servers))))
          .all()
          .get(10, TimeUnit.SECONDS);
    }
  }
}
