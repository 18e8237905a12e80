// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.store.RowFiles;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.OwnerDigest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The indexer on a real broker: warm and cold starts, and a standby. */
@Timeout(120)
class IndexerAppIT {

  @TempDir private Path dir;
  private final String application = SharedBroker.unique("it");
  private LogFeed feed;

  @BeforeEach
  void feed() throws Exception {
    feed = new LogFeed(SharedBroker.bootstrapServers(), 7);
  }

  private IndexerConfig config(String name, int standbys) {
    return IndexerConfig.at(SharedBroker.bootstrapServers(), dir.resolve(name))
        .as(application)
        .advertisedAs(name + ":1")
        .placed(new Placement(standbys, null, null));
  }

  private static IndexerApp start(IndexerConfig config) {
    return IndexerApp.start(config, 1, new SimpleMeterRegistry());
  }

  @Test
  void shouldAnswerTheSame_whenStartedWarmAndCold() throws IOException {
    IndexerConfig config = config("one", 0);
    List<String> before;
    try (IndexerApp app = start(config)) {
      feed.send(400);
      until(() -> feed.isSeenBy(app), "all records");
      before = feed.answers(app);
      until(this::hasItsChangelogWrittenDown, "it says whose its rows are");
    }
    long warmNs = System.nanoTime();
    try (IndexerApp app = start(config)) {
      until(() -> app.notReadyReason() == null, "ready after a warm start");
      assertThat(feed.isSeenBy(app)).isTrue();
      assertThat(feed.answers(app)).isEqualTo(before);
      System.out.println("warm start ms " + (System.nanoTime() - warmNs) / 1_000_000);
      feed.send(100);
      until(() -> feed.isSeenBy(app), "records after the warm start");
      before = feed.answers(app);
    }
    RowFiles.delete(dir.resolve("one"));
    long coldNs = System.nanoTime();
    try (IndexerApp app = start(config)) {
      until(() -> app.notReadyReason() == null, "ready after a cold start");
      assertThat(feed.isSeenBy(app)).isTrue();
      assertThat(feed.answers(app)).isEqualTo(before);
      System.out.println("cold start ms " + (System.nanoTime() - coldNs) / 1_000_000);
    }
  }

  /** There was none when it started. */
  private boolean hasItsChangelogWrittenDown() {
    LocalIdentity own = LocalIdentity.read(dir.resolve("one").resolve(application + ".identity"));
    return own != null && !own.changelog().isEmpty();
  }

  @Test
  void shouldHoldEverythingEverywhere_howeverManyReplicasThereAre() {
    try (IndexerApp first = start(everywhere("one", "a"))) {
      feed.send(300);
      until(() -> feed.isSeenBy(first), "records on the first");
      try (IndexerApp second = start(everywhere("two", "a"));
          IndexerApp third = start(everywhere("three", "b"))) {
        List<IndexerApp> all = List.of(first, second, third);
        feed.send(100);
        for (IndexerApp one : all) {
          until(() -> one.notReadyReason() == null && feed.isSeenBy(one), "all have all");
          until(() -> one.progress(0).phase() == PartitionProgress.Phase.READY, "all keep up");
        }
        assertThat(feed.answers(second))
            .isEqualTo(feed.answers(first))
            .isEqualTo(feed.answers(third));
        assertThat(first.notReadyReason(0)).isNull();
      }
    }
  }

  private IndexerConfig everywhere(String name, String rack) {
    return config(name, 0).placed(new Placement(0, rack, name).everywhere());
  }

  /** What each owner holds, summed up from the rows. */
  private static Set<OwnerDigest> digests(IndexerApp app) {
    try {
      return new HashSet<>(Objects.requireNonNull(app.view(0)).digest(owner -> true).owners());
    } catch (DumpFailedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldFollowAndTakeOver_whenItIsAStandby() {
    IndexerApp first = start(config("one", 1));
    feed.send(300);
    until(() -> feed.isSeenBy(first), "records on the first");
    try (IndexerApp second = start(config("two", 1))) {
      until(() -> second.notReadyReason() == null, "the second is ready");
      until(() -> first.notReadyReason() == null, "the first is ready");
      assertThat(feed.answers(second)).isEqualTo(feed.answers(first));
      until(() -> first.otherReplicas().equals(List.of("two:1")), "the first knows the second");
      until(() -> second.otherReplicas().equals(List.of("one:1")), "the second knows the first");
      feed.send(100);
      until(() -> feed.isSeenBy(first) && feed.isSeenBy(second), "records on both");
      assertThat(feed.answers(second)).isEqualTo(feed.answers(first));
      until(() -> digests(second).equals(digests(first)), "the same digests on the standby");
      assertThat(digests(first)).hasSizeGreaterThan(3);
      first.close();
      until(() -> second.otherReplicas().isEmpty(), "the first is forgotten");
      // It goes on asking others for what it keeps up no more.
      assertThat(first.otherReplicas()).containsExactly("two:1");
      feed.send(100);
      until(() -> feed.isSeenBy(second), "records on the one left");
      assertThat(second.notReadyReason()).isNull();
    } finally {
      first.close();
    }
  }
}
