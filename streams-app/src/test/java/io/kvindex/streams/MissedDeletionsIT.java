// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.view.PartitionView.State;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rows that may lack deletions are built anew while the replica runs, a copy's and its owner's. */
@Tag("broker")
@Timeout(120)
class MissedDeletionsIT {

  private static final Duration AWAY = Duration.ofMinutes(30);

  /** As often as a disk may fail an hour, less one. */
  private static final int ROUNDS = 2;

  @TempDir private Path dir;
  private final String application = SharedBroker.unique("missed");

  private IndexerApp start(String name, SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(SharedBroker.bootstrapServers(), dir.resolve(name))
            .as(application)
            .advertisedAs(name + ":1")
            .placed(new Placement(1, null, name)),
        1,
        metrics);
  }

  @Test
  void shouldBuildRowsAnew_andTellNothingExactFromTheOldOnes() throws Exception {
    LogFeed feed = new LogFeed(SharedBroker.bootstrapServers(), 3);
    SimpleMeterRegistry ofOwner = new SimpleMeterRegistry();
    SimpleMeterRegistry ofCopy = new SimpleMeterRegistry();
    try (IndexerApp owner = start("owner", ofOwner)) {
      feed.send(300);
      until(() -> feed.isSeenBy(owner) && owner.notReadyReason() == null, "records on the first");
      try (IndexerApp copy = start("copy", ofCopy)) {
        feed.send(10);
        awaitReady(feed, owner);
        awaitReady(feed, copy);

        for (int round = 0; round < ROUNDS; round++) {
          // Whichever of them has the partition: the group moves it.
          for (IndexerApp spoilt : List.of(copy, owner)) {
            spoil(feed, spoilt);
            awaitReady(feed, owner);
            awaitReady(feed, copy);
            // What the owner does beside its records comes with its next commit.
            until(() -> feed.answers(copy).equals(feed.answers(owner)), "the same answers");
          }
        }
        for (SimpleMeterRegistry each : List.of(ofOwner, ofCopy)) {
          assertThat(each.counter("kvindex.local.rows.discarded", "reason", "too_old").count())
              .isEqualTo(ROUNDS);
          assertThat(each.counter("kvindex.local.rows.discarded", "reason", "damaged").count())
              .isEqualTo(0);
          assertThat(each.counter("kvindex.restore.rows").count()).isGreaterThan(100);
          assertThat(each.counter("kvindex.log.records.missing").count())
              .as("wherever the partition was meanwhile")
              .isZero();
        }
        // Kafka Streams has a thread that comes upon it in a copy replaced.
        assertThat(ofCopy.counter("kvindex.stream.failures").count()).isLessThanOrEqualTo(ROUNDS);
        assertThat(ofOwner.counter("kvindex.stream.failures").count()).isLessThanOrEqualTo(ROUNDS);
      }
    }
  }

  private static void spoil(LogFeed feed, IndexerApp app) {
    var before = app.view(0);
    app.missedDeletions(0, AWAY);
    assertThat(before)
        .isNotNull()
        .satisfies(view -> assertThat(view.state()).isEqualTo(State.CLOSED));
    assertThat(app.notReadyReason()).as("it goes on answering").isNull();
    feed.send(20);
    until(() -> app.view(0) != before, "another table");
  }

  private static void awaitReady(LogFeed feed, IndexerApp app) {
    until(
        () ->
            feed.isSeenBy(app)
                && app.notReadyReason() == null
                && app.progress(0).phase() == PartitionProgress.Phase.READY,
        "all of it, kept up");
  }
}
