// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.checkpoint.MadeUpFormer;
import io.kvindex.streams.fixture.LogFeed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Copies on a real broker. */
@Tag("broker")
@Timeout(120)
class IndexCopyIT {

  @TempDir private Path dir;
  private final String unique = SharedBroker.unique("copy");
  private LogFeed feed;

  @BeforeEach
  void feed() throws Exception {
    feed = new LogFeed(SharedBroker.bootstrapServers(), 7);
  }

  private IndexCopy start(String name) {
    return IndexCopy.start(
        CopyConfig.of(
            Map.of("bootstrap.servers", SharedBroker.bootstrapServers()),
            unique + name,
            dir.resolve(name)),
        1,
        List::of,
        new SimpleMeterRegistry());
  }

  @Test
  void shouldAnswerTheSame_whenStartedAgainAndFromTheLog() throws IOException {
    List<String> before;
    try (IndexCopy copy = start("one")) {
      feed.send(400);
      until(() -> feed.isSeenBy(copy), "all records");
      before = feed.answers(copy);
    }
    long warmNs = System.nanoTime();
    try (IndexCopy copy = start("one")) {
      until(() -> copy.notReadyReason() == null, "ready after a warm start");
      assertThat(feed.isSeenBy(copy)).isTrue();
      assertThat(feed.answers(copy)).isEqualTo(before);
      System.out.println("warm start ms " + (System.nanoTime() - warmNs) / 1_000_000);
      feed.send(100);
      until(() -> feed.isSeenBy(copy), "records after the warm start");
      before = feed.answers(copy);
    }
    try (Stream<Path> all = Files.walk(dir.resolve("one"))) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    long coldNs = System.nanoTime();
    try (IndexCopy copy = start("one")) {
      until(() -> copy.notReadyReason() == null, "ready after a cold start");
      assertThat(feed.isSeenBy(copy)).isTrue();
      assertThat(feed.answers(copy)).isEqualTo(before);
      System.out.println("cold start ms " + (System.nanoTime() - coldNs) / 1_000_000);
    }
  }

  /** What the log has forgotten is in checkpoints only. */
  @Test
  void shouldLoseNothing_whenTheLogIsCutAndTheCheckpointIsOfTheLayoutBefore() throws Exception {
    List<String> before;
    try (IndexCopy copy = start("one")) {
      feed.send(400);
      until(() -> feed.isSeenBy(copy), "all records");
      before = feed.answers(copy);
    }
    MadeUpFormer.rewrite(dir.resolve("one").resolve("tables").resolve("0"));
    TopicPartition events = new TopicPartition(Topics.EVENTS, 0);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", SharedBroker.bootstrapServers()))) {
      admin.deleteRecords(Map.of(events, RecordsToDelete.beforeOffset(-1))).all().get();
    }
    try (IndexCopy copy = start("cold")) {
      until(() -> copy.notReadyReason() == null, "ready with the log alone");
      assertThat(feed.isSeenBy(copy)).isFalse();
    }
    MadeUpFormer.begin();
    try (IndexCopy copy = start("one")) {
      until(() -> copy.notReadyReason() == null, "ready after the conversion");
      assertThat(feed.answers(copy)).isEqualTo(before);
      feed.send(100);
      until(() -> feed.isSeenBy(copy), "records after the conversion");
    } finally {
      MadeUpFormer.end();
    }
  }

  @Test
  void shouldHoldEverything_whicheverOtherCopiesComeAndGo() {
    try (IndexCopy first = start("one")) {
      feed.send(300);
      until(() -> feed.isSeenBy(first), "records on the first");
      try (IndexCopy second = start("two");
          IndexCopy third = start("three")) {
        feed.send(100);
        for (IndexCopy one : List.of(first, second, third)) {
          until(() -> one.notReadyReason() == null && feed.isSeenBy(one), "all have all");
          until(() -> one.progress(0).phase() == PartitionProgress.Phase.READY, "all keep up");
        }
        assertThat(feed.answers(second))
            .isEqualTo(feed.answers(first))
            .isEqualTo(feed.answers(third));
      }
      feed.send(100);
      until(() -> feed.isSeenBy(first) && first.keepsUp(0), "the first goes on");
    }
  }
}
