// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.fold.Limits;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker loses the end of its log, as with the power, and the log grows on with other records.
 * Its beginning is gone, too, so that only a checkpoint has those blocks.
 */
@Tag("broker")
@Timeout(180)
class LostEndIT {

  private static final TopicPartition EVENTS = new TopicPartition(Topics.EVENTS, 0);

  /** Nobody waits for what is lost. */
  private static final Limits LIMITS =
      new Limits(0, Duration.ofSeconds(30), 1_000, 100, 1_000, 100);

  @TempDir private Path dir;
  private final MeterRegistry metrics = new SimpleMeterRegistry();
  private EmbeddedBroker broker;
  private LogFeed feed;

  @BeforeEach
  void start() throws Exception {
    broker = EmbeddedBroker.start(dir.resolve("broker"));
    feed = new LogFeed(broker.bootstrapServers(), 11);
  }

  @AfterEach
  void stop() {
    broker.close();
  }

  private IndexCopy copy(String name, @Nullable Path borrowFrom, MeterRegistry counts) {
    return IndexCopy.start(
        new CopyConfig(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            name,
            dir.resolve(name),
            null,
            Duration.ofSeconds(2),
            LIMITS,
            new JournalLimits(100, Duration.ofMillis(100), Duration.ofMinutes(1)),
            Map.of(),
            borrowFrom == null ? null : borrowFrom.toString()),
        1,
        true,
        List::of,
        counts);
  }

  /** Another one's checkpoint, from before what is lost later; the log's beginning is deleted. */
  private Path lend() throws Exception {
    try (IndexCopy lender = copy("lender", null, new SimpleMeterRegistry())) {
      feed.send(300);
      until(() -> feed.isSeenBy(lender), "the lender has all");
    }
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.deleteRecords(Map.of(EVENTS, RecordsToDelete.beforeOffset(200))).all().get();
    }
    return dir.resolve("lender").resolve("tables");
  }

  @Test
  void shouldBorrowAndGoOn_whenTheLogWasCutAndHasGrownWhileItWasDown() throws Exception {
    Path lent;
    try (IndexCopy copy = copy("one", null, new SimpleMeterRegistry())) {
      lent = lend();
      foldWhatIsLost(copy);
    }
    loseEnd();
    feed.send(400);
    try (IndexCopy copy = copy("one", lent, metrics)) {
      assertHealed(copy, 1);
    }
  }

  @Test
  void shouldBorrowAndGoOn_whenTheLogIsCutAndGrowsWhileItRuns() throws Exception {
    Path lent = lend();
    try (IndexCopy copy = copy("one", lent, metrics)) {
      foldWhatIsLost(copy);
      loseEnd();
      feed.send(400);
      assertHealed(copy, 2);
    }
  }

  private void foldWhatIsLost(IndexCopy copy) {
    for (int i = 0; i < 5; i++) {
      feed.send(30);
    }
    until(() -> feed.isSeenBy(copy), "what is lost later");
  }

  private void assertHealed(IndexCopy copy, int borrowed) {
    until(() -> refused() == 1, "the lost end is noticed");
    until(() -> feed.isSeenBy(copy) && copy.notReadyReason() == null, "all is folded");
    assertThat(metrics.get("kvindex.borrowed").tag("result", "borrowed").counter().count())
        .isEqualTo(borrowed);
    assertThat(Objects.requireNonNull(copy.view(0)).since()).as("nothing is missing").isZero();
    // Whoever never had the lost records says the same.
    try (IndexCopy lender = copy("lender", null, new SimpleMeterRegistry())) {
      until(() -> feed.isSeenBy(lender) && lender.notReadyReason() == null, "the lender, too");
      assertThat(feed.answers(copy)).isEqualTo(feed.answers(lender));
      assertThat(Objects.requireNonNull(copy.view(0)).positions())
          .isEqualTo(Objects.requireNonNull(lender.view(0)).positions());
    }
    assertThat(refused()).isOne();
  }

  private double refused() {
    return metrics.get("kvindex.tables.refused").tag("cause", "log_lost_end").counter().count();
  }

  /** Of the last records some are still there. */
  private void loseEnd() throws IOException {
    int port = Integer.parseInt(broker.bootstrapServers().replaceAll(".*:", ""));
    broker.close();
    Path segment;
    try (Stream<Path> files = Files.walk(dir.resolve("broker"))) {
      List<Path> ofLog =
          files.filter(file -> file.toString().contains(Topics.EVENTS + "-0/")).toList();
      segment = ofLog.stream().filter(f -> f.toString().endsWith(".log")).findFirst().orElseThrow();
      for (Path file : ofLog) {
        if (file.toString().matches(".*[.](index|timeindex|snapshot)")) {
          Files.delete(file);
        }
      }
    }
    Files.deleteIfExists(
        Objects.requireNonNull(Objects.requireNonNull(segment.getParent()).getParent())
            .resolve(".kafka_cleanshutdown"));
    long end = cut(segment, 330);
    System.out.println("the log ends before " + end);
    broker = EmbeddedBroker.start(BrokerOptions.in(dir.resolve("broker")).withPort(port));
  }

  /**
   * Cuts a log off behind the last batch that begins before an offset.
   *
   * @return that of the next record
   */
  private static long cut(Path segment, long offset) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      long position = 0;
      while (position < file.length()) {
        file.seek(position);
        long first = file.readLong();
        if (first >= offset) {
          file.setLength(position);
          return first;
        }
        position += Long.BYTES + Integer.BYTES + file.readInt();
      }
      throw new IllegalStateException("there is nothing behind offset " + offset);
    }
  }
}
