// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.sandbox.engine.StandardEvents;
import io.kvindex.sandbox.engine.StandardEvents.Stream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Publishers whose events have streams and numbers of their own. */
@Timeout(60)
class NumberedStreamsTest extends FollowerFixture {

  private static final Stream GPU = new Stream("llama", 4, null, null, "node", "gpu", 0);
  private static final Stream CPU = new Stream("llama", 4, null, null, "node", "cpu", 0);
  private static final String GPU_SUB = "llama/4///default/node/gpu/0/";
  private static final String CPU_SUB = "llama/4///default/node/cpu/0/";

  /** Holes are given up after as many answers as elsewhere, with shorter pauses. */
  NumberedStreamsTest() {
    super(
        new ReplayPolicy(4, Duration.ofSeconds(3), 3, 6, 1_000, Duration.ofMillis(20)),
        FollowLimits.DEFAULT);
  }

  @Test
  void shouldNumberByStream_whenEventsHaveNumbers() throws Exception {
    engine.publish(0, one(GPU, 10).stored(CPU, 3, 0L, null, null, 1).batch());
    engine.publish(1, new StandardEvents().batch());
    // Counting over all streams leaves holes in each; what is not beyond the last one is dropped.
    engine.publish(2, one(GPU, 11).removed(CPU, 3, null, 1).cleared(CPU, 12).batch());
    Following following = follow();
    awaitAcked(following, 2);
    assertThat(places())
        .containsExactly(
            GPU_SUB + " 10 after null",
            CPU_SUB + " 3 after null",
            " 0 after null",
            " 1 after 0",
            GPU_SUB + " 11 after 10",
            CPU_SUB + " 12 after 3",
            " 2 after 1");
    assertThat(following.status().counters()).containsEntry("skipped_duplicate_event", 1L);
    assertThat(following.progress().lastIds())
        .isEqualTo(Map.of(key(""), 2L, key(GPU_SUB), 11L, key(CPU_SUB), 12L));
    assertThat(following.progress().clears()).isEqualTo(1);
  }

  @Test
  void shouldGoOnWhereEachStreamStood_whenAnotherBridgeTakesOver() throws Exception {
    engine.publish(0, one(GPU, 10).batch());
    engine.publish(1, one(CPU, 4).batch());
    Following first = follow();
    awaitAcked(first, 1);
    BridgeProgress progress = first.progress();
    first.stop();
    await().atMost(SOON).until(first::isSettled);
    producer.clear();
    engine.publish(2, one(GPU, 10).stored(GPU, 11, 0L, null, null, 1).batch());
    Following next =
        follow(
            new Life(
                registration(),
                new Incarnation(3, 7, 0),
                new SendSession.Acked(
                    Objects.requireNonNull(progress.lastSequence()),
                    progress.lastTimeMicros(),
                    progress.clears(),
                    0),
                -1,
                false,
                null,
                false,
                Map.of(GPU_SUB, 10L, CPU_SUB, 4L),
                List.of()));
    awaitAcked(next, 2);
    assertThat(places()).containsExactly(GPU_SUB + " 11 after 10", " 2 after 1");
    assertThat(next.progress().lastIds()).containsEntry(key(CPU_SUB), 4L);
  }

  @Test
  void shouldTakeNumbersBack_whenASendFails() throws Exception {
    engine.publish(0, one(GPU, 10).batch());
    engine.publish(1, one(GPU, 11).batch());
    engine.publish(2, one(GPU, 12).batch());
    Following following = follow();
    await().atMost(SOON).until(() -> producer.history().size() == 6);
    producer.completeNext(); // 10, and its batch
    producer.completeNext();
    producer.completeNext(); // 11, but not its batch
    producer.errorNext(new TimeoutException("no broker"));
    while (producer.completeNext()) {}
    assertThat(following.progress().lastIds()).isEqualTo(Map.of(key(""), 0L, key(GPU_SUB), 10L));
    awaitAcked(following, 2);
    assertThat(places().subList(6, places().size()))
        .containsExactly(
            GPU_SUB + " 11 after 10", " 1 after 0", GPU_SUB + " 12 after 11", " 2 after 1");
  }

  @Test
  void shouldSayThatSomethingIsMissing_whenTheBatchesHaveAHole() throws Exception {
    engine.publish(0, one(GPU, 10).batch());
    engine.publish(3, one(GPU, 20).batch());
    Following following = follow();
    awaitAcked(following, 3);
    EventRecord missing = sent().get(2);
    assertThat(missing.stream().sub()).isEmpty();
    assertThat(missing.events()).containsExactly(new KvEvent.Gap(1, 2));
    assertThat(missing.position()).isEqualTo(new EventRecord.Position(3, 0, false));
    assertThat(sent().get(4).position()).isEqualTo(new EventRecord.Position(3, 1, true));
    assertThat(places())
        .containsExactly(
            GPU_SUB + " 10 after null",
            " 0 after null",
            " 3 after 0",
            GPU_SUB + " 20 after 10",
            " 3 after 0");
  }

  @Test
  void shouldBeginAllStreamsAnew_whenThePublisherIsRestarted() throws Exception {
    engine.publish(0, one(GPU, 10).batch());
    Following following = follow();
    awaitAcked(following, 0);
    engine.restart();
    engine.publish(0, one(GPU, 1).batch());
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {}
              return places().contains(GPU_SUB + " 1 after null");
            });
    awaitAcked(following, 0);
    assertThat(following.progress().lastIds()).isEqualTo(Map.of(key(""), 0L, key(GPU_SUB), 1L));
  }

  @Test
  void shouldKeepABound_whenAPublisherInventsStreams() throws Exception {
    StandardEvents many = new StandardEvents();
    for (int i = 0; i < BatchRecords.MAX_STREAMS + 5; i++) {
      many.stored(new Stream("llama", 4, "salt" + i, null, "n", "gpu", 0), 1, 0L, null, null, 1);
    }
    engine.publish(0, many.batch());
    Following following = follow();
    awaitAcked(following, 0);
    assertThat(following.status().counters()).containsEntry("skipped_stream_limit", 5L);
    assertThat(following.progress().lastIds()).hasSize(BatchRecords.MAX_STREAMS + 1);
  }

  /** A progress record that Kafka refuses would never be written again. */
  @Test
  void shouldKeepProgressWritable_whenAPublisherInventsLongNames() throws Exception {
    StandardEvents many = new StandardEvents();
    for (int i = 0; i < BatchRecords.MAX_STREAMS; i++) {
      String salt = "s".repeat(900) + i;
      many.stored(new Stream("llama", 4, salt, null, "n", "gpu", 0), 1, 0L, null, null, 1);
    }
    engine.publish(0, many.batch());
    Following following = follow();
    awaitAcked(following, 0);
    assertThat(BridgeProgressCodec.encode(following.progress()).length).isLessThan(900_000);
    long left = following.status().counters().getOrDefault("skipped_stream_limit", 0L);
    assertThat(left).isBetween(1L, BatchRecords.MAX_STREAMS - 200L);
    assertThat(following.progress().lastIds())
        .hasSize(BatchRecords.MAX_STREAMS - Math.toIntExact(left) + 1);
  }

  private static StandardEvents one(Stream stream, long id) {
    return new StandardEvents().stored(stream, id, 0L, null, null, id);
  }

  private void awaitAcked(Following following, long sequence) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {}
              @Nullable Long last = following.progress().lastSequence();
              return last != null && last == sequence;
            });
  }

  @Override
  Following follow() throws InterruptedException {
    return follow(new Life(registration(), new Incarnation(3, 7, 0), null, false, false));
  }

  private io.kvindex.model.registration.Registration registration() {
    return Site.engine("e", engine.endpoint(), engine.replayEndpoint(), SourceType.KV_EVENTS);
  }

  private String key(String sub) {
    return new StreamId(registration().publisher(), sub).key();
  }

  private List<String> places() {
    return sent().stream()
        .filter(record -> !record.isOpening())
        .map(
            record ->
                record.stream().sub()
                    + " "
                    + record.position().eventId()
                    + " after "
                    + record.after())
        .toList();
  }
}
