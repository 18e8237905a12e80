// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A killed bridge is replaced when the others find its port closed, not when Kafka misses it:
 * sessions are of two minutes here, so that nothing would happen in the time waited. A killed index
 * is nobody else's business.
 */
@Tag("broker")
class DeadMemberIT {

  private static final long SEED = TestSeed.of(DeadMemberIT.class);
  private static final String SESSION_MS = "120000";
  private static final Duration SOON = Duration.ofSeconds(40);

  private static final Duration UNDISTURBED = Duration.ofSeconds(5);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  /** A bridge and where its metrics are. */
  private record Reader(ChildProcess process, Api api) {

    private boolean isFollowing() {
      return !api.get("/workers").isEmpty();
    }
  }

  @Test
  @Timeout(300)
  void shouldBeReplacedAtOnce_whenKafkaWaitsForIt() throws Exception {
    try (LoadedEngines load = new LoadedEngines(4, SEED, Duration.ofMillis(50), options -> {});
        BrokerProcess broker = BrokerProcess.start(directory);
        ServerProcess index = index("index-1", broker);
        ServerProcess other = index("index-2", broker)) {
      Reader one = bridge("bridge-1", broker);
      Reader two = bridge("bridge-2", broker);
      try (ChildProcess oneEnds = one.process();
          ChildProcess twoEnds = two.process()) {
        index.awaitReady();
        other.awaitReady();
        awaitReady(one);
        awaitReady(two);
        load.engines().forEach(engine -> index.api().register(engine, "default"));
        load.start();
        awaitVisible(index.api(), load.engines());
        killBridge(one.isFollowing() ? one : two, one.isFollowing() ? two : one, index, load);
        killIndex(index, other, load);
        broker.requireAlive();
      }
    }
  }

  private static void killBridge(
      Reader victim, Reader survivor, ServerProcess index, LoadedEngines load)
      throws InterruptedException {
    victim.process().kill();
    // What was sent until it died may have been read by it.
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(survivor.api().metric("kvindex_bridge_members_removed_total"))
                    .isEqualTo(1));
    awaitVisible(index.api(), load.engines());
    victim.process().restart();
    awaitReady(victim);
    // One that stops in order leaves by itself, before it is silent.
    victim.process().close();
    awaitVisible(index.api(), load.engines());
    assertThat(survivor.api().metric("kvindex_bridge_members_removed_total")).isEqualTo(1);
  }

  /** The other one goes on with what engines send, and never says that it is behind. */
  private static void killIndex(ServerProcess victim, ServerProcess survivor, LoadedEngines load)
      throws InterruptedException {
    String address = ClusterView.address(victim.api());
    int[] prompt = LoadedEngines.prompt(new Random(SEED));
    await().atMost(SOON).untilAsserted(() -> assertExact(survivor, prompt));
    victim.process().kill();
    await()
        .during(UNDISTURBED)
        .atMost(UNDISTURBED.multipliedBy(3))
        .untilAsserted(() -> assertExact(survivor, prompt));
    awaitVisible(survivor.api(), load.engines());
    ClusterView.awaitUnreachable(survivor.api(), address);
  }

  private static void assertExact(ServerProcess index, int[] prompt) {
    assertThat(index.api().header("X-KvIndex-State", "default", prompt, 16)).contains("exact");
  }

  private ServerProcess index(String name, BrokerProcess broker) throws IOException {
    return ServerProcess.index(
        name, Files.createDirectory(directory.resolve(name)), broker.address(), Map.of());
  }

  private Reader bridge(String name, BrokerProcess broker) {
    String port = Integer.toString(ChildProcess.freePort());
    return new Reader(
        new ChildProcess(
            name,
            directory,
            List.of("-Xmx1g"),
            List.of("bridge", "--kafka", broker.address(), "--http-port", port),
            Map.of("KVINDEX_KAFKA_PROPERTIES", "consumer.session.timeout.ms=" + SESSION_MS)),
        new Api(URI.create("http://127.0.0.1:" + port)));
  }

  private static void awaitReady(Reader bridge) {
    await()
        .atMost(Duration.ofSeconds(180))
        .until(
            () -> {
              bridge.process().requireAlive();
              return bridge.api().isReady();
            });
  }

  /** What the engines have sent until now, while they go on. */
  private static void awaitVisible(Api api, List<SimulatedEngine> engines) {
    for (SimulatedEngine engine : engines) {
      long sent = engine.lastSequence();
      await()
          .atMost(SOON)
          .untilAsserted(
              () ->
                  assertThat(api.visible(engine.options().name()))
                      .as("newest visible event of " + engine.options().name())
                      .isGreaterThanOrEqualTo(sent));
    }
  }
}
