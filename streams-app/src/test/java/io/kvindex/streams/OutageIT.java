// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kafka is away for longer than anything in Kafka Streams waits. What is ten minutes in production
 * is three seconds here ({@code -Dkvindex.test.patience=SECONDS}), the outage ten ({@code
 * -Dkvindex.test.outage=SECONDS}).
 */
@Tag("broker")
@Timeout(900)
class OutageIT {

  private static final long PATIENCE_S = Long.getLong("kvindex.test.patience", 3);
  private static final long OUTAGE_NS =
      TimeUnit.SECONDS.toNanos(Long.getLong("kvindex.test.outage", 10));

  @TempDir private Path dir;

  @Test
  void shouldAnswerFromMemory_andGoOnByItself_whenKafkaWasAwayForLong() throws Exception {
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"));
    String servers = broker.bootstrapServers();
    LogFeed feed = new LogFeed(servers, 5);
    try (IndexerApp app =
        IndexerApp.start(
            IndexerConfig.at(servers, dir.resolve("tables"))
                .alone("one")
                .tolerating(new Tolerance(Duration.ofSeconds(1), Duration.ofSeconds(PATIENCE_S))),
            1,
            metrics)) {
      feed.send(400);
      until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "all records");
      List<String> before = feed.answers(app);
      // Not committed yet, so that the outage begins amid a transaction.
      feed.send(0);
      until(() -> feed.isSeenBy(app), "the record not committed");
      broker.close();
      watch(app, feed, before);
      broker = start(servers);
      long backNs = System.nanoTime();
      feed.send(100);
      until(() -> feed.isSeenBy(app), "records after the outage");
      System.out.printf(
          "visible %d ms after Kafka was back, stream failures %.0f, rows restored %.0f%n",
          (System.nanoTime() - backNs) / 1_000_000,
          metrics.counter("kvindex.stream.failures").count(),
          metrics.counter("kvindex.restore.rows").count());
      until(() -> app.notReadyReason() == null && app.keepsUp(0), "ready after the outage");
      System.out.printf(
          "ready %d ms after Kafka was back%n", (System.nanoTime() - backNs) / 1_000_000);
      assertThat(app.progress(0).phase()).isEqualTo(PartitionProgress.Phase.READY);
      assertSameAsRebuilt(app, feed, servers);
    } finally {
      broker.close();
    }
  }

  private EmbeddedBroker start(String servers) {
    int port = Integer.parseInt(servers.substring(servers.lastIndexOf(':') + 1));
    return EmbeddedBroker.start(BrokerOptions.in(dir.resolve("kafka")).withPort(port));
  }

  /** All answers stay, and grow old. */
  private static void watch(IndexerApp app, LogFeed feed, List<String> before) {
    long startedNs = System.nanoTime();
    until(() -> !app.keepsUp(0), "answers are called stale");
    assertThat(System.nanoTime() - startedNs).isLessThan(TimeUnit.SECONDS.toNanos(4));
    long age = app.ageMs(0);
    while (System.nanoTime() - startedNs < OUTAGE_NS) {
      assertThat(feed.answers(app)).isEqualTo(before);
      assertThat(app.keepsUp(0)).isFalse();
      assertThat(app.notReadyReason()).as("still takes traffic").isNull();
      assertThat(app.ageMs(0)).isGreaterThanOrEqualTo(age);
      age = app.ageMs(0);
      LockSupport.parkNanos(50_000_000);
    }
    assertThat(age).isGreaterThan(TimeUnit.NANOSECONDS.toMillis(OUTAGE_NS) - 2_000);
  }

  /** A replica that reads the whole log anew comes to the same. */
  private void assertSameAsRebuilt(IndexerApp app, LogFeed feed, String servers) {
    IndexerConfig other =
        IndexerConfig.at(servers, dir.resolve("other")).as("rebuilt").withoutChangelog();
    try (IndexerApp rebuilt = IndexerApp.start(other, 1, new SimpleMeterRegistry())) {
      until(() -> feed.isSeenBy(rebuilt), "the whole log");
      assertThat(feed.answers(app)).isEqualTo(feed.answers(rebuilt));
    }
  }
}
