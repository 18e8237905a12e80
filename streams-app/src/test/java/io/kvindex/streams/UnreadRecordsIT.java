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
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
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
      LogFeed feed = new LogFeed(servers, 9);
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

  private IndexerApp start(String servers, SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(servers, dir.resolve("tables")).alone("one"), 1, metrics);
  }

  private static PartitionView view(IndexerApp app) {
    return Objects.requireNonNull(app.view(0));
  }

  private static void deleteAll(String servers) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      long end =
          admin
              .listOffsets(Map.of(EVENTS, OffsetSpec.latest()))
              .partitionResult(EVENTS)
              .get(10, TimeUnit.SECONDS)
              .offset();
      admin
          .deleteRecords(Map.of(EVENTS, RecordsToDelete.beforeOffset(end)))
          .all()
          .get(10, TimeUnit.SECONDS);
    }
  }
}
