// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Outages of Kafka, registrations that come and go, and many of them at once. */
class BridgeLifeTest extends BridgeFixture {

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
    assertThat(Chain.of(site.events(name))).hasSize(2_100).noneMatch(BridgeFixture::hasGap);
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
  void shouldSayFailed_whenTheEndpointIsNone() throws Exception {
    Bridge bridge = bridge();
    register(Site.engine(name, "bogus://127.0.0.1:9", null));
    awaitState(bridge, PublisherState.FAILED);
    assertThat(worker(bridge).lastError()).contains("can not follow bogus://127.0.0.1:9");
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
}
