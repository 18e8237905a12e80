// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.follow.FollowLimits;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.engine.StandardEvents;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Bridges that are killed before they wrote progress of what Kafka had acknowledged: whoever takes
 * over reads it in the events log.
 */
class KilledBridgeTest extends BridgeFixture {

  private static final Duration NEVER = Duration.ofHours(1);

  @Test
  void shouldKeepALife_whenItsBridgeIsKilledBehindItsFirstBatchesAndTheEngineIsGone()
      throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), null));
    publishAndAwait(engine, killed, 0, 99);
    killed.halt();
    assertThat(progress().lastSequence()).as("written before the kill").isNull();
    engine.close();

    Bridge next = bridge();
    await().atMost(SOON).until(() -> lastSequence(next) == 99);
    await().atMost(SOON).until(() -> Long.valueOf(99).equals(progress().lastSequence()));
    assertThat(site.events(name)).hasSize(100);
    assertThat(worker(next).incarnation()).isEqualTo(last(name).incarnation());
    assertThat(worker(next).state()).isNotEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldGoOnWithASecondLife_whenBridgesAreKilledOneAfterTheOther() throws Exception {
    FakeEngine engine = engine(true);
    Bridge first = hasty();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    publishAndAwait(engine, first, 0, 9);
    engine.restart();
    publishAndAwait(engine, first, 0, 4);
    await().atMost(SOON).until(() -> last(name).position().eventId() == 4);
    first.halt();
    engine.publishUnheard(5, 9);

    Bridge second = hasty();
    awaitIds(9);
    second.halt();
    engine.publishUnheard(10, 12);
    bridge();
    awaitIds(12);
    List<EventRecord> log = site.events(name);
    EventRecord newest = log.get(log.size() - 1);
    assertThat(log.stream().filter(r -> r.incarnation().equals(newest.incarnation())))
        .extracting(r -> r.position().eventId())
        .containsExactlyElementsOf(
            LongStream.concat(LongStream.of(0), LongStream.rangeClosed(0, 12)).boxed().toList());
    assertThat(log).noneMatch(BridgeFixture::hasGap);
    assertThat(log.stream().filter(EventRecord::isOpening)).hasSize(1);
  }

  /** What says who the engine is, and which groups it has, is in the log, too. */
  @Test
  void shouldKnowTheEngineAndItsGroups_whenItsClockStandsStill() throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    await().atMost(SOON).until(() -> !killed.workers().isEmpty());
    engine.publish(0, batch(1, "full_attention", 0));
    engine.publish(1, batch(2, "sliding_window", 1));
    engine.publish(2, batch(3, "full_attention", 0));
    awaitIds(2);
    killed.halt();
    engine.forgetBefore(2);
    engine.publish(3, batch(4, "full_attention", 0));

    bridge();
    awaitIds(3);
    await().atMost(SOON).until(() -> Long.valueOf(3).equals(progress().lastSequence()));
    assertThat(site.events(name))
        .extracting(r -> r.position().eventId())
        .containsExactly(0L, 1L, 2L, 3L);
    assertThat(progress().groups())
        .extracting(GroupSpec::kind)
        .containsExactlyInAnyOrder("full_attention", "sliding_window");
  }

  @Test
  void shouldBeginALife_whenAnotherEngineAnswersThoughItsClockIsTheSame() throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    await().atMost(SOON).until(() -> !killed.workers().isEmpty());
    engine.publish(0, batch(1, "full_attention", 0));
    engine.publish(1, batch(2, "full_attention", 0));
    awaitIds(1);
    killed.halt();
    engine.restart();
    engine.publish(0, batch(11, "full_attention", 0));
    engine.publish(1, batch(12, "full_attention", 0));
    engine.publish(2, batch(13, "full_attention", 0));

    bridge();
    awaitIds(2);
    assertThat(site.events(name)).filteredOn(EventRecord::isOpening).hasSize(1);
  }

  @Test
  void shouldGoOnInEachStream_whenEventsHaveNumbersOfTheirOwn() throws Exception {
    StandardEvents.Stream gpu =
        new StandardEvents.Stream("llama", FakeEngine.BLOCK_SIZE, null, null, "node", "gpu", 0);
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint(), SourceType.KV_EVENTS));
    await().atMost(SOON).until(() -> !killed.workers().isEmpty());
    engine.publish(0, new StandardEvents().stored(gpu, 10, 0L, null, null, 1).batch());
    engine.publish(1, new StandardEvents().cleared(gpu, 11).batch());
    await().atMost(SOON).until(() -> site.events(name).size() == 4);
    killed.halt();
    engine.publish(2, new StandardEvents().stored(gpu, 12, 0L, null, null, 2).batch());

    Bridge next = bridge();
    await().atMost(SOON).until(() -> site.events(name).size() == 6);
    assertThat(site.events(name))
        .extracting(EventRecord::after)
        .containsExactly(null, null, 10L, 0L, 11L, 1L);
    await().atMost(SOON).until(() -> lastSequence(next) == 2);
    assertThat(worker(next).clears()).isEqualTo(1);
  }

  @Test
  void shouldStartWithWhatThereIs_whenTheLogWasCutBehindTheProgress() throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), null));
    publishAndAwait(engine, killed, 0, 19);
    killed.halt();
    engine.close();
    deleteBefore(10);

    Bridge next = bridge();
    await().atMost(SOON).until(() -> lastSequence(next) == 19);
    assertThat(worker(next).incarnation()).isEqualTo(last(name).incarnation());
  }

  /** As versions did that knew no place in the log. */
  @Test
  void shouldGoByTheProgress_whenItSaysNothingOfTheLog() throws Exception {
    FakeEngine engine = engine(true);
    Bridge killed = hasty();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    publishAndAwait(engine, killed, 0, 9);
    killed.halt();
    ConsumerRecord<byte[], byte[]> claim = newestProgress();
    BridgeProgress p = progress();
    site.progress(
        claim.partition(),
        new BridgeProgress(
            p.publisher(),
            p.table(),
            p.type(),
            p.generation(),
            claim.offset(),
            0,
            null,
            0,
            p.state(),
            null,
            Map.of(),
            Map.of(),
            List.of(),
            null,
            null,
            null));
    bridge();
    awaitIds(9);
    await().atMost(SOON).until(() -> Long.valueOf(9).equals(progress().lastSequence()));
    assertThat(site.events(name)).filteredOn(EventRecord::isOpening).hasSize(1);
  }

  /** Offset of this engine's batch number {@code sequence}. */
  private void deleteBefore(long sequence) throws Exception {
    ConsumerRecord<byte[], byte[]> first = mine(Topics.EVENTS).get((int) sequence);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", site.bootstrap()))) {
      admin
          .deleteRecords(
              Map.of(
                  new TopicPartition(Topics.EVENTS, first.partition()),
                  RecordsToDelete.beforeOffset(first.offset())))
          .all()
          .get();
    }
  }

  /**
   * Publishes once the bridge listens, as nothing else brings the first batches, and has written
   * so: news of a connection come with what is acknowledged by then.
   */
  private void publishAndAwait(FakeEngine engine, Bridge bridge, long from, long to) {
    await().atMost(SOON).until(() -> !bridge.workers().isEmpty() && worker(bridge).connected());
    await().atMost(SOON).until(() -> isConnectionTold(progress().connection()));
    engine.publish(from, to);
    await()
        .atMost(SOON)
        .until(
            () -> {
              List<EventRecord> events = site.events(name);
              return !events.isEmpty() && last(name).position().eventId() == to;
            });
  }

  private static boolean isConnectionTold(@Nullable Connection connection) {
    return connection != null && connection.proven();
  }

  private BridgeProgress progress() {
    return BridgeProgressCodec.decode(newestProgress().value());
  }

  /** A bridge that dies before it writes progress. */
  private Bridge hasty() {
    BridgeConfig c = BridgeConfig.at(site.bootstrap()).with(FollowLimits.DEFAULT, QUICK);
    Bridge bridge =
        Bridge.start(
            new BridgeConfig(
                c.kafka(),
                c.groupInstanceId(),
                NEVER,
                c.rawQuarantine(),
                c.limits(),
                c.replay(),
                c.generations()),
            new SimpleMeterRegistry());
    open.add(bridge);
    return bridge;
  }

  private static byte[] batch(long hash, String kind, int group) {
    List<Integer> tokens =
        IntStream.range(0, FakeEngine.BLOCK_SIZE).mapToObj(i -> (int) hash * 100 + i).toList();
    Object stored =
        Pack.map(
            "type",
            "BlockStored",
            "block_hashes",
            List.of(hash),
            "parent_block_hash",
            null,
            "token_ids",
            tokens,
            "block_size",
            FakeEngine.BLOCK_SIZE,
            "medium",
            "GPU",
            "group_idx",
            group,
            "kv_cache_spec_kind",
            kind);
    return Pack.bytes(List.of(1_760_000_000.25, List.of(stored), 0));
  }
}
