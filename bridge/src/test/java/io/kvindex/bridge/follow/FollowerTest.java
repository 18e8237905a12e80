// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A follower on real sockets with a producer whose every answer the test gives. */
@Timeout(60)
class FollowerTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final long BUDGET = 16_384;

  private final MockProducer<byte[], byte[]> producer =
      new MockProducer<>(
          cluster(), false, null, new ByteArraySerializer(), new ByteArraySerializer());
  private final SendBudget budget = new SendBudget(BUDGET);
  private final BridgeMetrics metrics = new BridgeMetrics(new SimpleMeterRegistry());
  private final IoLoop loop = new IoLoop(budget);
  private final Replays replays = new Replays(loop.context(), ReplayPolicy.DEFAULT);
  private final FakeEngine engine = new FakeEngine(true);
  private long lives = 100;

  FollowerTest() {
    budget.onReopened(loop::wakeUp);
  }

  @AfterEach
  void close() throws Exception {
    replays.close();
    loop.close();
    engine.close();
  }

  @Test
  void shouldSendAgainFromTheLastAcknowledged_whenASendFails() throws Exception {
    engine.publish(0, 9);
    Following following = follow();
    await().atMost(SOON).until(() -> producer.history().size() == 10);
    for (int i = 0; i < 4; i++) {
      producer.completeNext();
    }
    producer.errorNext(new TimeoutException("no broker"));
    // Those behind it are acknowledged all the same, as a broker may do.
    while (producer.completeNext()) {}
    assertThat(following.progress().lastSequence()).isEqualTo(3);
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {}
              return Long.valueOf(9).equals(following.progress().lastSequence());
            });
    List<EventRecord> sent = sent();
    assertThat(sent.subList(10, sent.size()))
        .extracting(r -> r.position().eventId())
        .containsExactly(4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(sent.get(10).after()).isEqualTo(3);
    assertThat(sent).noneMatch(r -> r.events().stream().anyMatch(KvEvent.Gap.class::isInstance));
  }

  @Test
  void shouldStopReading_whenTheProducerIsBehind() throws Exception {
    engine.publish(0, 4_999);
    Following following = follow();
    await().atMost(SOON).until(() -> budget.isClosed());
    engine.publish(5_000, 5_099);
    assertThat(budget.inFlightBytes()).isLessThan(BUDGET + 1_024);
    assertThat(following.progress().lastSequence()).isNull();
    assertThat(following.status().oldestUnackedMicros()).isPositive();
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {
                assertThat(budget.inFlightBytes()).isLessThan(BUDGET + 1_024);
              }
              return Long.valueOf(5_099).equals(following.progress().lastSequence());
            });
    assertThat(Chain.ids(sent()))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, 5_099).boxed().toList());
    assertThat(following.status().oldestUnackedMicros()).isZero();
  }

  @Test
  void shouldGoOnBehindAKnownSequence_whenALifeGoesOn() throws Exception {
    engine.publish(0, 9);
    follow(
        new Life(
            Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
            new Incarnation(3, 7, 0),
            new SendSession.Acked(5, timeOf(5)),
            false,
            false));
    await().atMost(SOON).until(() -> producer.history().size() == 4);
    assertThat(sent().get(0).after()).isEqualTo(5);
    assertThat(sent()).extracting(EventRecord::incarnation).containsOnly(new Incarnation(3, 7, 0));
  }

  private long timeOf(long sequence) {
    Registration registration = Site.engine("e", engine.endpoint(), engine.replayEndpoint());
    return new EngineBatchDecoder(registration).decode(engine.published(sequence)).sourceMicros();
  }

  private Following follow() throws InterruptedException {
    return follow(
        new Life(
            Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
            new Incarnation(3, 7, 0),
            null,
            false,
            false));
  }

  private Following follow(Life life) throws InterruptedException {
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    return new Followers(
            loop, replays, sink, EngineBatchDecoder::new, metrics, FollowLimits.DEFAULT)
        .start(life, (claim, done) -> done.done(++lives, null));
  }

  private List<EventRecord> sent() {
    List<EventRecord> records = new ArrayList<>();
    producer.history().forEach(r -> records.add(EventRecordCodec.decode(r.value())));
    return records;
  }

  private static Cluster cluster() {
    Node node = new Node(0, "localhost", 1);
    Node[] nodes = {node};
    List<PartitionInfo> partitions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      partitions.add(new PartitionInfo(Topics.EVENTS, i, node, nodes, nodes));
    }
    return new Cluster("test", List.of(node), partitions, java.util.Set.of(), java.util.Set.of());
  }
}
