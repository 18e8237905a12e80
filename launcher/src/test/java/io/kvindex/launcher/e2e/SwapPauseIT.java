// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rebuild takes the serving table's place under ingest, and one of two replicas stands still
 * meanwhile until its group has forgotten it. Answers are compared for engines that are quiet;
 * others share their table and publish all the time.
 */
@Tag("broker")
class SwapPauseIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime());
  private static final int ENGINES = 2;
  private static final int BATCHES = 150;
  private static final Duration STEP = Duration.ofMillis(50);

  /** Behind the change and the end of its session: enough to give the former table up. */
  private static final long AWAY_MS = 8_000;

  @TempDir private Path directory;

  @Test
  @Timeout(240)
  void shouldKeepTheTableOfAReplica_whenItStandsStillForLongerThanItsSession() throws Exception {
    System.out.println("SwapPauseIT -Dkvindex.test.seed=" + SEED);
    try (LoadedEngines quiet = new LoadedEngines(ENGINES, SEED);
        LoadedEngines busy = new LoadedEngines("busy", ENGINES, SEED, STEP, options -> {});
        EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("kafka"));
        ServerProcess other = SwapSite.replica(SwapSite.FIRST, directory, broker);
        ServerProcess paused = SwapSite.replica(SwapSite.SECOND, directory, broker)) {
      SwapSite site = new SwapSite(directory, broker, other, paused);
      List<SimulatedEngine> all =
          Stream.concat(quiet.engines().stream(), busy.engines().stream()).toList();
      other.awaitReady();
      try (Bridge bridge =
          Bridge.start(BridgeConfig.at(broker.bootstrapServers()), new SimpleMeterRegistry())) {
        all.forEach(engine -> other.api().register(engine, "default"));
        quiet.send(BATCHES);
        paused.awaitReady();
        site.awaitTruth(quiet.engines(), SEED);
        busy.start();
        List<Api> both = List.of(other.api(), paused.api());
        try (TruthLoop asking = new TruthLoop(both, quiet.engines(), SEED)) {
          CompletableFuture<Integer> swap = CompletableFuture.supplyAsync(site::swap);
          standStill(broker, other, paused, asking);
          assertThat(swap.get(120, TimeUnit.SECONDS)).isZero();
          asking.goOn();
        }
        busy.pause();
        site.assertServes("kvindex-table-1");
        site.awaitTruth(all, SEED);
        assertThat(bridge).isNotNull();
      }
    }
  }

  /** From when it builds the next table until the other replica has been without it for a while. */
  private static void standStill(
      EmbeddedBroker broker, ServerProcess other, ServerProcess paused, TruthLoop asking)
      throws InterruptedException {
    await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(Duration.ofSeconds(60))
        .until(() -> paused.api().metric("kvindex_table_beside") == 1);
    assertThat(serving(paused)).isEqualTo("kvindex");
    assertThat(paused.api().metric("kvindex_blocks")).as("a table worth keeping").isPositive();
    asking.disturb(paused.api());
    paused.process().freeze();
    long start = System.nanoTime();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      ReplayGroup former = new ReplayGroup(admin, "kvindex");
      await().atMost(Duration.ofSeconds(60)).until(() -> former.processes() < 2);
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> serving(other).equals("kvindex-table-1"));
    other.process().letRun(AWAY_MS);
    paused.process().thaw();
    asking.settle(paused.api());
    System.out.println("stood still for ms=" + (System.nanoTime() - start) / 1_000_000);
  }

  private static String serving(ServerProcess replica) {
    return replica.api().get("/cluster").path("application").asText();
  }
}
