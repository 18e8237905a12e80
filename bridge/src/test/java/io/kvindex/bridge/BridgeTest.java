// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.follow.FollowLimits;
import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class BridgeTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final ReplayPolicy QUICK =
      new ReplayPolicy(4, Duration.ofSeconds(2), 2, 16, Duration.ofMillis(20));

  @TempDir private static Path dataDir;
  private static Site site;
  private static int tests;
  private final String name = "e" + ++tests;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<Registration> registered = new ArrayList<>();

  @BeforeAll
  static void startBroker() throws Exception {
    site = new Site(dataDir);
  }

  @AfterAll
  static void stopBroker() {
    site.close();
  }

  /** Leaves no registration behind, which the next test's bridge would follow. */
  @AfterEach
  void closeAll() throws Exception {
    for (Registration registration : registered) {
      site.unregister(registration.publisher());
    }
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private long register(Registration registration) throws Exception {
    registered.add(registration);
    return site.register(registration);
  }

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
    assertThat(records).noneMatch(BridgeTest::hasGap);
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
    assertThat(Chain.of(site.events(name))).hasSize(100).noneMatch(BridgeTest::hasGap);
    assertThat(engine.asks()).isGreaterThanOrEqualTo(3);
    awaitState(bridge, PublisherState.ACTIVE);
    assertSumRule(bridge);
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
    engine.publishUnheard(10, 14);
    engine.publish(15, 20);
    awaitIds(20);
    assertThat(Chain.of(site.events(name))).hasSize(21).noneMatch(BridgeTest::hasGap);
    assertThat(counter(worker(bridge), "gaps_filled")).isEqualTo(1);
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
    assertThat(Chain.of(site.events(name))).hasSize(20).noneMatch(BridgeTest::hasGap);
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
    await()
        .atMost(SOON)
        .until(
            () -> {
              engine.live(new byte[0], FakeEngine.sequence(0), FakeEngine.payload(0));
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
    assertThat(quarantined().get(0).value()).containsExactly(0xc1);
  }

  @Test
  void shouldLoseNothing_whenTheBrokerIsAwayForSomeSeconds() throws Exception {
    FakeEngine engine = engine(true);
    Bridge bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 99);
    awaitIds(99);
    site.stopBroker();
    engine.publish(100, 1_999);
    await().atMost(SOON).until(() -> bridge.oldestUnackedMicros().isPresent());
    site.startBroker();
    engine.publish(2_000, 2_099);
    awaitIds(2_099);
    assertThat(Chain.of(site.events(name))).hasSize(2_100).noneMatch(BridgeTest::hasGap);
    await().atMost(SOON).until(() -> bridge.oldestUnackedMicros().isEmpty());
  }

  @Test
  void shouldRetire_whenUnregistered() throws Exception {
    FakeEngine engine = engine(true);
    Bridge bridge = bridge();
    Registration registration = Site.engine(name, engine.endpoint(), engine.replayEndpoint());
    register(registration);
    engine.publish(0, 9);
    awaitIds(9);
    long tombstone = site.unregister(registration.publisher());
    await().atMost(SOON).until(() -> isRetired(name, tombstone));
    assertThat(bridge.workers()).isEmpty();
    long again = register(registration);
    await().atMost(SOON).until(() -> last(name).incarnation().generation() == again);
    await().atMost(SOON).until(() -> last(name).position().eventId() == 9);
  }

  @Test
  void shouldRetire_whenUnregisteredWhileNoBridgeRan() throws Exception {
    FakeEngine engine = engine(true);
    Bridge bridge = bridge();
    Registration registration = Site.engine(name, engine.endpoint(), engine.replayEndpoint());
    register(registration);
    engine.publish(0, 9);
    awaitIds(9);
    bridge.close();
    long tombstone = site.unregister(registration.publisher());
    bridge();
    await().atMost(SOON).until(() -> isRetired(name, tombstone));
    // Its progress is taken back, so the next assignment has nothing to retire.
    await().atMost(SOON).until(() -> lastProgressIsTombstone());
  }

  @Test
  void shouldSayFailed_whenATypeIsNotDecoded() throws Exception {
    Bridge bridge = bridge();
    register(Site.engine(name, "tcp://127.0.0.1:9", null, SourceType.MOONCAKE));
    awaitState(bridge, PublisherState.FAILED);
    assertThat(worker(bridge).lastError()).contains("Mooncake");
    await().atMost(SOON).until(() -> mine(Topics.BRIDGE_PROGRESS).size() >= 2);
  }

  @Test
  void shouldNeedAHandfulOfThreads_whenItFollows200Publishers() throws Exception {
    FakeEngine engine = engine(true);
    engine.publish(0, 4);
    Bridge bridge = bridge();
    int before = Thread.activeCount();
    for (int i = 0; i < 200; i++) {
      register(Site.engine(name + "-" + i, engine.endpoint(), engine.replayEndpoint()));
    }
    await()
        .atMost(Duration.ofSeconds(40))
        .until(
            () ->
                bridge.workers().stream()
                        .filter(w -> w.state() == PublisherState.ACTIVE && lastOf(w) == 4)
                        .count()
                    == 200);
    int more = Thread.activeCount() - before;
    assertThat(more).as("threads for 200 publishers").isLessThan(20);
    engine.publish(5, 5);
    await()
        .atMost(SOON)
        .until(() -> bridge.workers().stream().filter(w -> lastOf(w) == 5).count() == 200);
  }

  private FakeEngine engine(boolean topicFrame) {
    FakeEngine engine = new FakeEngine(topicFrame);
    open.add(engine);
    return engine;
  }

  private Bridge bridge() {
    Bridge bridge =
        Bridge.start(
            BridgeConfig.at(site.bootstrap()).with(FollowLimits.DEFAULT, QUICK),
            new SimpleMeterRegistry());
    open.add(bridge);
    return bridge;
  }

  private static Bridge bridgeOf(List<AutoCloseable> all) {
    return (Bridge) all.get(all.size() - 1);
  }

  private static WorkerStatus worker(Bridge bridge) {
    return bridge.workers().get(0);
  }

  private static long lastSequence(Bridge bridge) {
    return bridge.workers().isEmpty() ? -1 : lastOf(worker(bridge));
  }

  private static long lastOf(WorkerStatus worker) {
    Long last = worker.lastSequence();
    return last == null ? -1 : last;
  }

  private static long counter(WorkerStatus worker, String name) {
    return worker.counters().getOrDefault(name, 0L);
  }

  private static boolean hasGap(EventRecord record) {
    return record.events().stream().anyMatch(KvEvent.Gap.class::isInstance);
  }

  private static void awaitState(Bridge bridge, PublisherState state) {
    await()
        .atMost(SOON)
        .until(() -> !bridge.workers().isEmpty() && worker(bridge).state() == state);
  }

  private void awaitIds(long last) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              List<Long> ids = Chain.ids(site.events(name));
              return !ids.isEmpty() && ids.get(ids.size() - 1) == last;
            });
    assertThat(Chain.ids(site.events(name)))
        .isSubsetOf(LongStream.rangeClosed(0, last).boxed().toList());
  }

  private EventRecord last(String instance) {
    List<EventRecord> events = site.events(instance);
    return events.get(events.size() - 1);
  }

  private boolean isRetired(String instance, long generation) {
    EventRecord last = last(instance);
    return last.events().equals(List.of(new KvEvent.Retired()))
        && last.incarnation().generation() == generation;
  }

  private List<ConsumerRecord<byte[], byte[]>> quarantined() {
    return mine(Topics.QUARANTINE);
  }

  private List<ConsumerRecord<byte[], byte[]>> mine(String topic) {
    String key = new PublisherId(name, "default", 0).key();
    return site.read(topic).stream()
        .filter(r -> new String(r.key(), StandardCharsets.UTF_8).equals(key))
        .toList();
  }

  private boolean lastProgressIsTombstone() {
    var records = mine(Topics.BRIDGE_PROGRESS);
    return records.get(records.size() - 1).value() == null;
  }

  /** Every frame received has ended in exactly one outcome. */
  private static void assertSumRule(Bridge bridge) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              WorkerStatus worker = worker(bridge);
              long outcomes = 0;
              for (FrameOutcome outcome : FrameOutcome.values()) {
                outcomes += counter(worker, outcome.label());
              }
              assertThat(outcomes)
                  .isEqualTo(counter(worker, "frames_live") + counter(worker, "frames_replayed"));
            });
  }
}
