// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.IoLoops;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.bridge.zmq.Resolver;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A follower of a scriptable publisher, with a producer whose answers the test decides. */
abstract class FollowerFixture {

  static final Duration SOON = Duration.ofSeconds(20);
  static final long BUDGET = 16_384;

  final MockProducer<byte[], byte[]> producer;
  final SendBudget budget;
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  final BridgeMetrics metrics = new BridgeMetrics(registry);
  final Resolver resolver = new Resolver(this::lookUp);
  final IoLoops loops;
  final Replays replays;
  private final FollowLimits limits;
  final FakeEngine engine = new FakeEngine(true);

  /** Offset of the last claim. */
  long lives = 100;

  FollowerFixture() {
    this(ReplayPolicy.DEFAULT, FollowLimits.DEFAULT);
  }

  FollowerFixture(ReplayPolicy policy, FollowLimits limits) {
    this(
        policy,
        limits,
        BUDGET,
        new MockProducer<>(
            cluster(), false, null, new ByteArraySerializer(), new ByteArraySerializer()));
  }

  FollowerFixture(
      ReplayPolicy policy,
      FollowLimits limits,
      long budgetBytes,
      MockProducer<byte[], byte[]> producer) {
    this.limits = limits;
    this.producer = producer;
    budget = new SendBudget(budgetBytes);
    loops = IoLoops.start(1, budget::gate, resolver);
    replays = new Replays(loops.context(), policy, resolver);
  }

  @AfterEach
  void close() throws Exception {
    replays.close();
    loops.close();
    resolver.close();
    engine.close();
  }

  /** The addresses of a name, as the follower sees them. */
  List<InetAddress> lookUp(String host) throws UnknownHostException {
    return Resolver.Lookup.SYSTEM.addresses(host);
  }

  Following follow() throws InterruptedException {
    return follow(engine.replayEndpoint());
  }

  final Following follow(@Nullable String replayEndpoint) throws InterruptedException {
    return follow(
        new Life(
            Site.engine("e", engine.endpoint(), replayEndpoint),
            new Incarnation(3, 7, 0),
            null,
            false,
            false));
  }

  final Following follow(Life life) throws InterruptedException {
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    return new Followers(loops, replays, sink, metrics, limits)
        .start(life, (claim, done) -> done.done(++lives, null));
  }

  final List<EventRecord> sent() {
    List<EventRecord> records = new ArrayList<>();
    producer.history().stream()
        .filter(r -> r.topic().equals(Topics.EVENTS))
        .forEach(r -> records.add(EventRecordCodec.decode(r.value())));
    return records;
  }

  final boolean isSent(String instance, long sequence) {
    while (producer.completeNext()) {}
    return sentOf(instance).stream().anyMatch(r -> r.position().eventId() == sequence);
  }

  final List<EventRecord> sentOf(String instance) {
    return sent().stream()
        .filter(r -> r.stream().publisher().instanceId().equals(instance))
        .toList();
  }

  static boolean hasGap(EventRecord record) {
    return record.events().stream().anyMatch(KvEvent.Gap.class::isInstance);
  }

  static Cluster cluster() {
    Node node = new Node(0, "localhost", 1);
    Node[] nodes = {node};
    List<PartitionInfo> partitions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      partitions.add(new PartitionInfo(Topics.EVENTS, i, node, nodes, nodes));
    }
    return new Cluster("test", List.of(node), partitions, java.util.Set.of(), java.util.Set.of());
  }
}
