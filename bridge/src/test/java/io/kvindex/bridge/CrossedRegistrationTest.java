// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two replicas write about one publisher at once, and the later record names an older generation.
 */
class CrossedRegistrationTest extends BridgeFixture {

  private FakeEngine engine;
  private Registration registration;
  private long first;

  @BeforeEach
  void startEngine() throws Exception {
    engine = engine(false);
    registration = Site.engine(name, engine.endpoint(), engine.replayEndpoint());
    engine.publish(0, 9);
    first = register(registration);
  }

  private Registration adapterOf(long generation) {
    return registration.withLoraNames(List.of("", "sql"), generation);
  }

  @Test
  void shouldBeFollowedAsItsOwnGeneration_whenCrossedByAReplacement() throws Exception {
    Bridge bridge = bridge();
    awaitState(bridge, PublisherState.ACTIVE);
    site.register(registration);
    long crossed = site.register(adapterOf(first));
    awaitVisible(bridge, crossed);
  }

  @Test
  void shouldBeFollowedAsItsOwnGeneration_whenCrossedByAnUnregistration() throws Exception {
    Bridge bridge = bridge();
    awaitState(bridge, PublisherState.ACTIVE);
    site.unregister(registration.publisher());
    long crossed = site.register(adapterOf(first));
    awaitVisible(bridge, crossed);
  }

  @Test
  void shouldComeToTheSame_whenABridgeReadsItAllAtOnce() throws Exception {
    site.register(registration);
    long crossed = site.register(adapterOf(first));
    long settled = site.register(adapterOf(crossed));
    assertThat(settled).isGreaterThan(crossed);
    Bridge bridge = bridge();
    awaitVisible(bridge, crossed);
    // and who takes over goes on with it, whatever the record that is left names
    bridge.close();
    Bridge next = bridge();
    awaitState(next, PublisherState.ACTIVE);
    assertThat(worker(next).incarnation()).isEqualTo(last(name).incarnation());
    assertThat(site.events(name).stream().map(r -> r.incarnation().life()).distinct()).hasSize(1);
  }

  @Test
  void shouldStayTheSameGeneration_whenAnAdapterIsAddedInPeace() throws Exception {
    Bridge bridge = bridge();
    awaitState(bridge, PublisherState.ACTIVE);
    site.register(adapterOf(first));
    await().atMost(SOON).until(() -> worker(bridge).registration().loraNames().size() == 2);
    assertThat(worker(bridge).incarnation().generation()).isEqualTo(first);
  }

  /** The engine's newest batch is in the log, and nothing in there fences it. */
  private void awaitVisible(Bridge bridge, long generation) {
    await()
        .atMost(SOON)
        .until(
            () ->
                !bridge.workers().isEmpty()
                    && worker(bridge).incarnation().generation() == generation
                    && worker(bridge).state() == PublisherState.ACTIVE);
    engine.publish(10, 10);
    await()
        .atMost(SOON)
        .until(
            () ->
                site.events(name).stream()
                    .anyMatch(
                        r ->
                            r.incarnation().generation() == generation
                                && r.position().eventId() == 10));
    assertThat(site.events(name)).allMatch(r -> r.incarnation().generation() <= generation);
  }
}
