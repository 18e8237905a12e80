// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.store.SavedRows;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed while it writes a table that nobody else has. */
@Tag("broker")
@Timeout(120)
class KilledTableIT {

  private static final int BEFORE = 2_000;
  private static final int AFTER = 20;

  @TempDir private Path dir;

  @Test
  void shouldReadOnlyTheEndOfTheChangelog() throws Exception {
    Path disk = dir.resolve("disk");
    List<String> answers;
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      LogFeed feed = new LogFeed(broker.bootstrapServers(), 11);
      feed.send(BEFORE);
      try (IndexerApp app = start(broker, dir.resolve("tables"), new SimpleMeterRegistry())) {
        until(() -> feed.isSeenBy(app), "all records");
        Path saved = SavedRows.of(dir.resolve("tables/kvindex/0_0"));
        until(() -> isSavedAfterMore(feed, saved), "rows saved by the active task");
        feed.send(AFTER);
        until(() -> feed.isSeenBy(app), "what came since");
        answers = feed.answers(app);
        copy(dir.resolve("tables"), disk);
      }
      SimpleMeterRegistry metrics = new SimpleMeterRegistry();
      try (IndexerApp app = start(broker, disk, metrics)) {
        until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "all rows");
        assertThat(restored(metrics)).isPositive().isLessThan(BEFORE);
        assertThat(feed.answers(app)).isEqualTo(answers);
      }
    }
  }

  private static boolean isSavedAfterMore(LogFeed feed, Path saved) {
    feed.send(1);
    return Files.exists(saved);
  }

  private static double restored(SimpleMeterRegistry metrics) {
    return metrics.find("kvindex.restore.rows").counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  private static IndexerApp start(EmbeddedBroker broker, Path tables, SimpleMeterRegistry metrics) {
    IndexerConfig config = IndexerConfig.at(broker.bootstrapServers(), tables);
    return IndexerApp.start(config.alone("one"), 1, metrics);
  }

  /** What a killed process leaves; RocksDB may be deleting files of the rows in use. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path one : all.toList()) {
        Path target = to.resolve(from.relativize(one).toString());
        try {
          if (Files.isDirectory(one)) {
            Files.createDirectories(target);
          } else {
            Files.copy(one, target);
          }
        } catch (NoSuchFileException e) {
          assertThat(one.toString()).doesNotContain(".saved");
        }
      }
    }
  }
}
