// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A replica is started with the state directory it had in another Kafka cluster. */
@Tag("broker")
@Timeout(180)
class OtherClusterIT {

  private static final String APPLICATION = SharedBroker.unique("moved");

  @TempDir private Path dir;

  @Test
  void shouldBuildTheTableAnew_whenTheRowsAreOfAnotherCluster() throws Exception {
    List<String> elsewhere = answersOf(SharedBroker.bootstrapServers(), 21);
    try (EmbeddedBroker other = EmbeddedBroker.start(dir.resolve("kafka"))) {
      LogFeed feed = new LogFeed(other.bootstrapServers(), 22);
      feed.send(200);
      SimpleMeterRegistry metrics = new SimpleMeterRegistry();
      List<String> answers;
      try (IndexerApp app = start(other.bootstrapServers(), "moved", metrics)) {
        until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "the other cluster's log");
        answers = feed.answers(app);
      }
      assertThat(discarded(metrics)).isOne();
      assertThat(answers).isNotEqualTo(elsewhere);
      assertThat(answers).isEqualTo(answersOfNewReplica(other.bootstrapServers(), feed));
    }
  }

  /** Those of the replica that moves later. */
  private List<String> answersOf(String servers, long seed) throws Exception {
    LogFeed feed = new LogFeed(servers, seed);
    feed.send(200);
    try (IndexerApp app = start(servers, "moved", new SimpleMeterRegistry())) {
      until(() -> feed.isSeenBy(app) && app.notReadyReason() == null, "the first cluster's log");
      return feed.answers(app);
    }
  }

  private List<String> answersOfNewReplica(String servers, LogFeed feed) {
    IndexerConfig config =
        IndexerConfig.at(servers, dir.resolve("new")).as("rebuilt").withoutChangelog();
    try (IndexerApp app = IndexerApp.start(config, 1, new SimpleMeterRegistry())) {
      until(() -> feed.isSeenBy(app), "the whole log");
      return feed.answers(app);
    }
  }

  private IndexerApp start(String servers, String stateDir, SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(servers, dir.resolve(stateDir)).as(APPLICATION).alone("one"), 1, metrics);
  }

  private static double discarded(SimpleMeterRegistry metrics) {
    return metrics.counter("kvindex.local.rows.discarded", "reason", "not_this_changelog").count();
  }
}
