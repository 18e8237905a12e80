// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The topic that rows are restored from is gone, the group's place in the log is not. */
@Tag("broker")
@Timeout(180)
class LostChangelogIT {

  @TempDir private Path dir;
  private final String application = SharedBroker.unique("lost");
  private LogFeed feed;

  @BeforeEach
  void feed() throws Exception {
    feed = new LogFeed(SharedBroker.bootstrapServers(), 11);
  }

  @Test
  void shouldBuildTheTableAnew_whenTheChangelogIsGone() throws Exception {
    List<String> answers = answersOfAll();
    deleteChangelog();
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    try (IndexerApp app = start("one", metrics)) {
      until(() -> app.notReadyReason() == null, "ready again");
      assertThat(discarded(metrics)).isOne();
      assertThat(feed.answers(app)).isEqualTo(answers);
      answers = answersAfterMore(app);
    }
    assertAnotherRestores(answers);
  }

  /** As the rebalance of a replica makes it that had not noticed yet. */
  @Test
  void shouldBuildTheTableAnew_whenAnEmptyChangelogIsInPlaceOfIt() throws Exception {
    List<String> answers = answersOfAll();
    replaceChangelog();
    assertBuildsAnew(answers);
  }

  /** One that ends at once may not have written down which changelog was made for it. */
  @Test
  void shouldBuildTheTableAnew_whenNothingSaysOfWhichChangelogItWas() throws Exception {
    List<String> answers = answersOfAll();
    writeIdentity(LocalIdentity.of(kafkas().cluster(), ""));
    replaceChangelog();
    assertBuildsAnew(answers);
  }

  /** As a changelog that lost its end with the machine that had it. */
  @Test
  void shouldBuildTheTableAnew_whenTheChangelogIsShorterThanItsRows() throws Exception {
    List<String> answers = answersOfAll();
    replaceChangelog();
    writeIdentity(kafkas());
    assertBuildsAnew(answers);
  }

  private void assertBuildsAnew(List<String> before) {
    List<String> answers;
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    try (IndexerApp app = start("one", metrics)) {
      until(() -> app.notReadyReason() == null, "ready again");
      assertThat(feed.answers(app)).isEqualTo(before);
      assertThat(discarded(metrics)).isOne();
      answers = answersAfterMore(app);
    }
    assertAnotherRestores(answers);
  }

  private void writeIdentity(LocalIdentity own) throws IOException {
    own.write(dir.resolve("one").resolve(application + ".identity"));
  }

  private LocalIdentity kafkas() {
    return Objects.requireNonNull(changelogTopic().identity());
  }

  private ChangelogTopic changelogTopic() {
    return new ChangelogTopic(
        Map.of("bootstrap.servers", SharedBroker.bootstrapServers()), application);
  }

  /** Of a replica that ends then. */
  private List<String> answersOfAll() {
    try (IndexerApp app = start("one")) {
      feed.send(400);
      until(() -> feed.isSeenBy(app), "all records");
      return feed.answers(app);
    }
  }

  private List<String> answersAfterMore(IndexerApp app) {
    feed.send(20);
    until(() -> feed.isSeenBy(app), "new records");
    return feed.answers(app);
  }

  private void assertAnotherRestores(List<String> answers) {
    try (IndexerApp app = start("two")) {
      until(() -> app.notReadyReason() == null, "ready with what the new changelog has");
      assertThat(feed.answers(app)).isEqualTo(answers);
    }
  }

  @Test
  void shouldRefuseToStart_whenTheChangelogIsGoneAndOthersRun() throws Exception {
    try (IndexerApp app = start("one")) {
      feed.send(10);
      until(() -> feed.isSeenBy(app) && hasCommitted(), "all records");
      deleteChangelog();
      assertThatThrownBy(() -> start("two").close())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(IndexTopology.changelogOf(application))
          .hasMessageContaining("stop all of them");
    }
  }

  @Test
  void shouldGiveUpAndGoOnAnswering_whenTheChangelogIsDeletedWhileItRuns() throws Exception {
    try (IndexerApp app = start("one")) {
      feed.send(10);
      until(() -> feed.isSeenBy(app) && hasCommitted(), "all records");
      app.changelogWatch().look();
      List<String> answers = feed.answers(app);
      deleteChangelog();
      for (int i = 0; i < ChangelogWatch.LOOKS; i++) {
        app.changelogWatch().look();
      }
      assertThat(app.notReadyReason()).contains("stop all replicas");
      until(
          () -> Objects.requireNonNull(app.view(0)).state() == PartitionView.State.CLOSED,
          "nothing is kept any more");
      assertThat(feed.answers(app)).isEqualTo(answers);
    }
  }

  @Test
  void shouldHaveAsManyCopiesAsTheLog() {
    assertThat(changelogTopic().copiesOfEvents()).isOne();
  }

  private static double discarded(SimpleMeterRegistry metrics) {
    return metrics.counter("kvindex.local.rows.discarded", "reason", "not_this_changelog").count();
  }

  private IndexerApp start(String name) {
    return start(name, new SimpleMeterRegistry());
  }

  private IndexerApp start(String name, SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(SharedBroker.bootstrapServers(), dir.resolve(name))
            .as(application)
            .alone(name),
        1,
        metrics);
  }

  /** All of the log: a commit under way would wait for a topic that is deleted then. */
  private boolean hasCommitted() {
    TopicPartition events = new TopicPartition(Topics.EVENTS, 0);
    try (Admin admin = admin()) {
      long end =
          admin
              .listOffsets(Map.of(events, OffsetSpec.latest()))
              .partitionResult(events)
              .get()
              .offset();
      OffsetAndMetadata place =
          admin
              .listConsumerGroupOffsets(application)
              .partitionsToOffsetAndMetadata()
              .get()
              .get(events);
      return place != null && place.offset() >= end;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void deleteChangelog() throws Exception {
    try (Admin admin = admin()) {
      String topic = IndexTopology.changelogOf(application);
      admin.deleteTopics(List.of(topic)).all().get();
      until(() -> !names(admin).contains(topic), "the topic is gone");
    }
  }

  private void replaceChangelog() throws Exception {
    deleteChangelog();
    try (Admin admin = admin()) {
      NewTopic empty = new NewTopic(IndexTopology.changelogOf(application), 1, (short) 1);
      admin.createTopics(List.of(empty)).all().get();
    }
  }

  private static Set<String> names(Admin admin) {
    try {
      return admin.listTopics().names().get();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", SharedBroker.bootstrapServers()));
  }
}
