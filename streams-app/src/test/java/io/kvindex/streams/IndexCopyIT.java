// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Place;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.checkpoint.MadeUpFormer;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Copies on a real broker. */
@Tag("broker")
@Timeout(120)
class IndexCopyIT {

  private static final int BAD = 7;

  @TempDir private Path dir;
  private final String unique = SharedBroker.unique("copy");
  private LogFeed feed;

  @BeforeEach
  void feed() throws Exception {
    feed = new LogFeed(SharedBroker.bootstrapServers(), 7);
  }

  private IndexCopy start(String name) {
    return start(name, null, new SimpleMeterRegistry());
  }

  private IndexCopy start(String name, @Nullable String borrowFrom, MeterRegistry metrics) {
    return IndexCopy.start(
        CopyConfig.of(
                Map.of("bootstrap.servers", SharedBroker.bootstrapServers()),
                unique + name,
                dir.resolve(name))
            .borrowingFrom(borrowFrom),
        1,
        true,
        List::of,
        metrics);
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

  @Test
  void shouldSayItAndFoldAnew_whenItsCheckpointIsTorn() throws Exception {
    List<String> before;
    try (IndexCopy copy = start("one")) {
      feed.send(200);
      until(() -> feed.isSeenBy(copy), "all records");
      before = feed.answers(copy);
    }
    try (Stream<Path> files = Files.list(dir.resolve("one").resolve("tables").resolve("0"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".sst")).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
      }
    }
    MeterRegistry metrics = new SimpleMeterRegistry();
    try (IndexCopy copy = start("one", null, metrics)) {
      assertThat(metrics.find("kvindex.checkpoints").counter()).as("from the start").isNotNull();
      until(() -> copy.notReadyReason() == null, "ready");
      assertThat(feed.answers(copy)).isEqualTo(before);
      assertThat(
              metrics.get("kvindex.checkpoints.refused").tag("reason", "damaged").counter().count())
          .isOne();
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
    Path own = dir.resolve("one").resolve("tables").resolve("0");
    MadeUpFormer.rewrite(own);
    Path lent = Files.createDirectories(dir.resolve("former").resolve("0"));
    try (Stream<Path> files = Files.list(own)) {
      for (Path file : files.toList()) {
        Files.copy(file, lent.resolve(file.getFileName()));
      }
    }
    TopicPartition events = new TopicPartition(Topics.EVENTS, 0);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", SharedBroker.bootstrapServers()))) {
      admin.deleteRecords(Map.of(events, RecordsToDelete.beforeOffset(-1))).all().get();
    }
    try (IndexCopy copy = start("cold")) {
      until(() -> copy.notReadyReason() == null, "ready with the log alone");
      assertThat(feed.isSeenBy(copy)).isFalse();
    }
    MadeUpFormer.begin();
    try (IndexCopy copy = start("one");
        IndexCopy borrower =
            start("two", dir.resolve("former").toString(), new SimpleMeterRegistry())) {
      for (IndexCopy one : List.of(copy, borrower)) {
        until(() -> one.notReadyReason() == null, "ready after the conversion");
        assertThat(feed.answers(one)).isEqualTo(before);
        assertThat(Objects.requireNonNull(one.view(0)).degradedPublishers()).isEmpty();
      }
      feed.send(100);
      until(() -> feed.isSeenBy(copy) && feed.isSeenBy(borrower), "records after the conversion");
      assertThat(feed.answers(borrower)).isEqualTo(feed.answers(copy));
    } finally {
      MadeUpFormer.end();
    }
  }

  /** All copies of a program with that bug come to the same. */
  @Test
  void shouldGoOnWithoutARecord_whenItsFoldFailsEachTime() {
    MeterRegistry metrics = new Buggy();
    Engine bad = new Engine(SharedBroker.unique("bad"));
    KvEvent[] events = new KvEvent[BAD];
    Arrays.fill(events, new Prompt("ab").stored(new Place("GPU", 0, 0, null)));
    CopyConfig config =
        new CopyConfig(
            Map.of("bootstrap.servers", SharedBroker.bootstrapServers()),
            unique + "buggy",
            dir.resolve("buggy"),
            null,
            Duration.ofSeconds(2),
            Limits.DEFAULT,
            new JournalLimits(50, Duration.ofMillis(50), Duration.ofMinutes(1)),
            Map.of(),
            null);
    try (IndexCopy copy = IndexCopy.start(config, 1, true, List::of, metrics)) {
      feed.send(100);
      until(() -> feed.isSeenBy(copy), "records before it");
      until(() -> checkpoints(metrics) > 0, "a checkpoint");
      double before = checkpoints(metrics);
      feed.send(
          bad.batch(events), bad.batch(new Prompt("xy").stored(new Place("GPU", 0, 0, null))));
      feed.send(100);
      until(() -> feed.isSeenBy(copy) && copy.notReadyReason() == null, "records behind it");
      PartitionView view = Objects.requireNonNull(copy.view(0));
      assertThat(view.degradedPublishers()).contains(bad.stream().publisher());
      assertThat(Answers.text(view, "xy")).contains(bad.stream().publisher().instanceId());
      assertThat(copy.warning()).contains("can not be folded", bad.stream().publisher().key());
      assertThat(
              metrics.get("kvindex.tables.refused").tag("cause", "fold_failed").counter().count())
          .isEqualTo(2);
      assertThat(metrics.get("kvindex.events").tag("outcome", "left_out").counter().count())
          .isEqualTo(BAD);
      assertThat(checkpoints(metrics)).as("of all tables").isGreaterThanOrEqualTo(before);
    }
  }

  private static double checkpoints(MeterRegistry metrics) {
    return metrics.get("kvindex.checkpoints").counter().count();
  }

  /** Of a program that does not survive a record of so many events. */
  private static final class Buggy extends SimpleMeterRegistry {
    @Override
    protected Counter newCounter(Meter.Id id) {
      Counter counter = super.newCounter(id);
      if (!id.getName().equals("kvindex.events") || !"applied".equals(id.getTag("outcome"))) {
        return counter;
      }
      return new Counter() {
        @Override
        public void increment(double amount) {
          if (amount == BAD) {
            throw new IllegalStateException("a bug, with the table half changed");
          }
          counter.increment(amount);
        }

        @Override
        public double count() {
          return counter.count();
        }

        @Override
        public Id getId() {
          return counter.getId();
        }
      };
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
