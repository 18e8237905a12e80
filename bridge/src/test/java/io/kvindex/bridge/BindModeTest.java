// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Endpoints the bridge binds, because engines connect to them. */
class BindModeTest extends BridgeFixture {

  @Test
  void shouldFollowEach_whenTwoEnginesConnectUnderTheirTopics() throws Exception {
    int port = freePort();
    FakeEngine first = connecting(port, "a");
    FakeEngine second = connecting(port, "b");
    first.publish(0, 4);
    second.publish(0, 2);
    Bridge bridge = bridge();
    register(registration(name, port, first, "a"));
    register(registration(name + "-b", port, second, "b"));
    await().atMost(SOON).until(() -> last(bridge, name) == 4 && last(bridge, name + "-b") == 2);

    first.publish(5, 5);
    second.publish(3, 9);
    await().atMost(SOON).until(() -> last(bridge, name) == 5 && last(bridge, name + "-b") == 9);
    assertThat(Chain.ids(site.events(name))).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    assertThat(bridge.workers())
        .allMatch(w -> w.state() == PublisherState.ACTIVE && counter(w, "new_lives") == 0);
  }

  @Test
  void shouldSayMismatched_whenTwoTopicsComeToOneThatNamesNone() throws Exception {
    int port = freePort();
    FakeEngine mine = connecting(port, "mine");
    mine.publish(0, 1);
    Bridge bridge = bridge();
    register(registration(name, port, mine, ""));
    await().atMost(SOON).until(() -> last(bridge, name) == 1);
    // Heard first: what the guard goes by.
    mine.publish(2, 2);
    await().atMost(SOON).until(() -> last(bridge, name) == 2);

    FakeEngine other = connecting(port, "other");
    await()
        .atMost(SOON)
        .until(
            () -> {
              other.publish(0, 0);
              return worker(bridge).state() == PublisherState.MISMATCHED;
            });
    assertThat(worker(bridge).lastError()).contains("mine", "other", "topic");
    assertThat(counter(worker(bridge), FrameOutcome.OTHER_TOPIC.label())).isPositive();
    assertThat(counter(worker(bridge), "new_lives")).isZero();
    mine.publish(3, 3);
    await().atMost(SOON).until(() -> last(bridge, name) == 3);
    assertSumRule(bridge);
  }

  @Test
  void shouldSayFailed_whenATopicIsTaken() throws Exception {
    int port = freePort();
    FakeEngine engine = connecting(port, "a");
    Bridge bridge = bridge();
    register(registration(name, port, engine, "a"));
    await().atMost(SOON).until(() -> bridge.workers().size() == 1);
    register(registration(name + "-again", port, engine, "a"));
    await()
        .atMost(SOON)
        .until(
            () ->
                bridge.workers().stream()
                        .filter(w -> w.state() == PublisherState.FAILED)
                        .map(WorkerStatus::lastError)
                        .filter(error -> error != null && error.contains("taken"))
                        .count()
                    == 1);
  }

  @Test
  void shouldHearTheOthers_whenOneOfABoundPortIsUnregistered() throws Exception {
    int port = freePort();
    FakeEngine first = connecting(port, "a");
    FakeEngine second = connecting(port, "b");
    first.publish(0, 0);
    Bridge bridge = bridge();
    Registration leaving = registration(name, port, first, "a");
    register(leaving);
    register(registration(name + "-b", port, second, "b"));
    await().atMost(SOON).until(() -> last(bridge, name) == 0);
    site.unregister(leaving.publisher());
    await().atMost(SOON).until(() -> bridge.workers().size() == 1);
    second.publish(0, 3);
    await().atMost(SOON).until(() -> last(bridge, name + "-b") == 3);
  }

  private FakeEngine connecting(int port, String topic) {
    FakeEngine engine = FakeEngine.connectingTo(port, topic);
    open.add(engine);
    return engine;
  }

  private static Registration registration(
      String instance, int port, FakeEngine engine, String topic) {
    return Site.withTopic(Site.engine(instance, "tcp://*:" + port, engine.replayEndpoint()), topic);
  }

  private static long last(Bridge bridge, String instance) {
    List<WorkerStatus> found =
        bridge.workers().stream()
            .filter(w -> w.registration().publisher().instanceId().equals(instance))
            .toList();
    return found.isEmpty() ? -1 : lastOf(found.get(0));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
