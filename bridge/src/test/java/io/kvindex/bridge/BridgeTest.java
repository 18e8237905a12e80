// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Joining, going on, and holes in what engines send. */
class BridgeTest extends BridgeFixture {

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldHaveEachBatchOnce_whenItJoinsARunningEngine(boolean topicFrame) throws Exception {
    FakeEngine engine = engine(topicFrame);
    engine.publish(0, 499);
    Bridge bridge = bridge();
    long generation = register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    for (long sequence = 500; sequence < 3_000; sequence++) {
      engine.publish(sequence, sequence);
    }
    awaitIds(2_999);
    List<EventRecord> records = Chain.of(site.events(name));
    assertThat(records).hasSize(3_000);
    assertThat(records).allSatisfy(r -> assertThat(r.events()).hasSize(1));
    assertThat(records).extracting(r -> r.incarnation().generation()).containsOnly(generation);
    awaitState(bridge, PublisherState.ACTIVE);
    assertSumRule(bridge);
  }

  @Test
  void shouldGoOnWhereKafkaIs_whenItWasKilled() throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    long next = 0;
    for (int round = 0; round < 3; round++) {
      engine.publish(next, next + 999);
      next += 1_000;
      await().atMost(SOON).until(() -> lastSequence(bridgeOf(open)) > 100);
      // Killed before its progress names a batch, the next one begins another life.
      await()
          .atMost(SOON)
          .until(
              () ->
                  mine(Topics.BRIDGE_PROGRESS).stream()
                      .anyMatch(r -> BridgeProgressCodec.decode(r.value()).lastSequence() != null));
      bridgeOf(open).halt();
      engine.publish(next, next + 99);
      next += 100;
      bridge();
    }
    engine.publish(next, next + 99);
    awaitIds(next + 99);
    List<EventRecord> records = Chain.of(site.events(name));
    assertThat(records)
        .extracting(EventRecord::incarnation)
        .containsOnly(records.get(0).incarnation());
    assertThat(records).noneMatch(BridgeFixture::hasGap);
    assertThat(killed.isAlive()).isFalse();
  }

  @Test
  void shouldRepeatNothing_whenItWasClosed() throws Exception {
    FakeEngine engine = engine(true);
    Bridge first = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 999);
    awaitIds(999);
    first.close();
    Bridge second = bridge();
    engine.publish(1_000, 1_099);
    awaitIds(1_099);
    assertThat(site.events(name)).hasSize(1_100);
    assertThat(counter(worker(second), FrameOutcome.DUPLICATE_OR_LATE.label())).isPositive();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldAskAgain_whenAReplayLosesBatchesInTheMiddle(boolean topicFrame) throws Exception {
    FakeEngine engine = engine(topicFrame);
    engine.losing(
        (ask, sequence) ->
            (ask == 1 && sequence >= 40 && sequence < 50) || (ask == 2 && sequence == 70));
    engine.publish(0, 99);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    awaitIds(99);
    assertThat(Chain.of(site.events(name))).hasSize(100).noneMatch(BridgeFixture::hasGap);
    assertThat(engine.asks()).isGreaterThanOrEqualTo(3);
    awaitState(bridge, PublisherState.ACTIVE);
    assertSumRule(bridge);
  }

  @Test
  void shouldAskAgain_whenAnAnswerLacksItsBeginningAndTheNextOneItsMiddle() throws Exception {
    FakeEngine engine = engine(true);
    engine.publish(0, 49);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    awaitIds(49);
    awaitState(bridge, PublisherState.ACTIVE);
    int asked = engine.asks();
    engine.losing(
        (ask, sequence) ->
            ask == asked + 1 && sequence == 49 || ask == asked + 2 && sequence == 50);
    engine.publishUnheard(50, 50);
    engine.publish(51, 51);
    awaitIds(51);
    assertThat(Chain.of(site.events(name))).hasSize(52).noneMatch(BridgeFixture::hasGap);
    awaitState(bridge, PublisherState.ACTIVE);
  }

  @Test
  void shouldNameWhatIsLost_whenTheReplayHasItNoMore() throws Exception {
    FakeEngine engine = engine(true);
    engine.publish(0, 99);
    engine.forgetBefore(10);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    awaitIds(99);
    List<EventRecord> records = Chain.of(site.events(name));
    assertThat(records).hasSize(90);
    assertThat(records.get(0).events()).contains(new KvEvent.Gap(0, 9));
    awaitState(bridge, PublisherState.DEGRADED);
    assertThat(counter(worker(bridge), "batches_lost")).isEqualTo(10);
    bridge.close();
    awaitState(bridge(), PublisherState.DEGRADED);
  }

  @Test
  void shouldFillAHole_whenTheLiveStreamJumps() throws Exception {
    FakeEngine engine = engine(false);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 9);
    awaitIds(9);
    awaitState(bridge, PublisherState.ACTIVE);
    // The one question asked in a quiet moment may fill the first hole before anybody knows of it.
    for (long next = 10; next < 30; next += 10) {
      engine.publishUnheard(next, next + 4);
      engine.publish(next + 5, next + 9);
      awaitIds(next + 9);
    }
    assertThat(Chain.of(site.events(name))).hasSize(30).noneMatch(BridgeFixture::hasGap);
    assertThat(counter(worker(bridge), "gaps_filled")).isBetween(1L, 2L);
    assertSumRule(bridge);
  }

  @Test
  void shouldNameAHole_whenThereIsNoReplayEndpoint() throws Exception {
    FakeEngine engine = engine(false);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), null));
    await().atMost(SOON).until(() -> !bridge.workers().isEmpty() && worker(bridge).connected());
    await()
        .atMost(SOON)
        .until(
            () -> {
              engine.live(new byte[0], FakeEngine.sequence(0), FakeEngine.payload(0));
              return !site.events(name).isEmpty();
            });
    engine.publish(5, 6);
    awaitIds(6);
    List<EventRecord> records = Chain.of(site.events(name));
    assertThat(records).hasSize(3);
    assertThat(records.get(1).events()).contains(new KvEvent.Gap(1, 4));
    awaitState(bridge, PublisherState.DEGRADED);
    assertSumRule(bridge);
  }

  @Test
  void shouldFetchWhatItMissed_whenThePublisherComesBackAtTheSamePort() throws Exception {
    FakeEngine engine = engine(true);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 9);
    awaitIds(9);
    engine.disconnect();
    engine.publishUnheard(10, 19);
    await().atMost(SOON).until(() -> !worker(bridge).connected());
    engine.reconnect();
    // Nothing more is published: only the replay after the new connection can bring them.
    awaitIds(19);
    assertThat(Chain.of(site.events(name))).hasSize(20).noneMatch(BridgeFixture::hasGap);
    awaitState(bridge, PublisherState.ACTIVE);
  }

  @Test
  void shouldWait_whenTheEndpointIsDead() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Bridge bridge = bridge();
    register(Site.engine(name, "tcp://127.0.0.1:" + port, "tcp://127.0.0.1:1"));
    awaitState(bridge, PublisherState.PENDING);
    FakeEngine engine = new FakeEngine(true, port);
    open.add(engine);
    byte[] payload = FakeEngine.payload(0);
    await()
        .atMost(SOON)
        .until(
            () -> {
              engine.live(new byte[0], FakeEngine.sequence(0), payload);
              return !site.events(name).isEmpty();
            });
    // Its replay endpoint is dead: the join gives up on it, says so, and goes on live.
    assertThat(worker(bridge).lastError()).contains("does not answer");
    awaitState(bridge, PublisherState.ACTIVE);
  }

  @Test
  void shouldCountEachFrameOnce_whenSomeAreNoBatches() throws Exception {
    FakeEngine engine = engine(true);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 9);
    awaitIds(9);
    engine.live(new byte[0], FakeEngine.sequence(10));
    engine.live(new byte[0], new byte[] {1, 2, 3}, FakeEngine.payload(10));
    engine.publish(10, new byte[] {(byte) 0xc1});
    engine.publish(5, 5);
    engine.publish(11, 12);
    awaitIds(12);
    WorkerStatus worker = worker(bridge);
    assertThat(counter(worker, FrameOutcome.MALFORMED.label())).isEqualTo(2);
    assertThat(counter(worker, FrameOutcome.QUARANTINED.label())).isEqualTo(1);
    assertThat(counter(worker, FrameOutcome.DUPLICATE_OR_LATE.label())).isPositive();
    assertSumRule(bridge);
    List<EventRecord> records = Chain.of(site.events(name));
    assertThat(records).hasSize(13);
    assertThat(records.get(10).events()).containsExactly(new KvEvent.Gap(10, 10));
    awaitState(bridge, PublisherState.DEGRADED);
    await().atMost(SOON).until(() -> quarantined().size() == 1);
    QuarantinedFrame frame = QuarantineCodec.decode(quarantined().get(0).value());
    assertThat(frame.payload()).containsExactly(0xc1);
    assertThat(frame.sequence()).isEqualTo(10);
    assertThat(frame.incarnation()).isEqualTo(records.get(10).incarnation());
    assertThat(frame.reason()).isEqualTo("not_msgpack");
  }
}
