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
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** The broker of this JVM, engines to follow and bridges that are gone when their test is over. */
@Timeout(60)
abstract class BridgeFixture {

  static final Duration SOON = Duration.ofSeconds(20);
  static final ReplayPolicy QUICK =
      new ReplayPolicy(4, Duration.ofSeconds(2), 2, 8, 16, Duration.ofMillis(20));

  static final Site site = Site.ofJvm();
  static int tests;
  final String name = "e" + ++tests;
  final List<AutoCloseable> open = new ArrayList<>();
  final List<Registration> registered = new ArrayList<>();

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

  long register(Registration registration) throws Exception {
    registered.add(registration);
    return site.register(registration);
  }

  FakeEngine engine(boolean topicFrame) {
    FakeEngine engine = new FakeEngine(topicFrame);
    open.add(engine);
    return engine;
  }

  Bridge bridge() {
    Bridge bridge =
        Bridge.start(
            BridgeConfig.at(site.bootstrap()).with(FollowLimits.DEFAULT, QUICK),
            new SimpleMeterRegistry());
    open.add(bridge);
    return bridge;
  }

  static Bridge bridgeOf(List<AutoCloseable> all) {
    return (Bridge) all.get(all.size() - 1);
  }

  static WorkerStatus worker(Bridge bridge) {
    return bridge.workers().get(0);
  }

  static long lastSequence(Bridge bridge) {
    return bridge.workers().isEmpty() ? -1 : lastOf(worker(bridge));
  }

  static long lastOf(WorkerStatus worker) {
    Long last = worker.lastSequence();
    return last == null ? -1 : last;
  }

  static long counter(WorkerStatus worker, String name) {
    return worker.counters().getOrDefault(name, 0L);
  }

  static boolean hasGap(EventRecord record) {
    return record.events().stream().anyMatch(KvEvent.Gap.class::isInstance);
  }

  static void awaitState(Bridge bridge, PublisherState state) {
    await()
        .atMost(SOON)
        .until(() -> !bridge.workers().isEmpty() && worker(bridge).state() == state);
  }

  void awaitIds(long last) {
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

  EventRecord last(String instance) {
    List<EventRecord> events = site.events(instance);
    return events.get(events.size() - 1);
  }

  boolean isRetired(String instance, long generation) {
    EventRecord last = last(instance);
    return last.events().equals(List.of(new KvEvent.Retired()))
        && last.incarnation().generation() == generation;
  }

  List<ConsumerRecord<byte[], byte[]>> quarantined() {
    return mine(Topics.QUARANTINE);
  }

  List<ConsumerRecord<byte[], byte[]>> mine(String topic) {
    String key = new PublisherId(name, "default", 0).key();
    return site.read(topic).stream()
        .filter(r -> new String(r.key(), StandardCharsets.UTF_8).equals(key))
        .toList();
  }

  ConsumerRecord<byte[], byte[]> newestProgress() {
    List<ConsumerRecord<byte[], byte[]>> all = mine(Topics.BRIDGE_PROGRESS);
    return all.get(all.size() - 1);
  }

  boolean lastProgressIsTombstone() {
    var records = mine(Topics.BRIDGE_PROGRESS);
    return records.get(records.size() - 1).value() == null;
  }

  /** Every frame received has ended in exactly one outcome. */
  static void assertSumRule(Bridge bridge) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              WorkerStatus worker = worker(bridge);
              long outcomes = counter(worker, "frames_waiting");
              for (FrameOutcome outcome : FrameOutcome.values()) {
                outcomes += counter(worker, outcome.label());
              }
              assertThat(outcomes)
                  .isEqualTo(counter(worker, "frames_live") + counter(worker, "frames_replayed"));
            });
  }
}
