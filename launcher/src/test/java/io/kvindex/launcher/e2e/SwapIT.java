// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A rebuild takes the serving table's place under questions, and again while a replica dies. */
@Tag("broker")
class SwapIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime());
  private static final int ENGINES = 3;
  private static final int BATCHES = 150;

  @TempDir private Path directory;

  @Test
  @Timeout(300)
  void shouldServeTheRebuild_withoutOneFailedOrWrongAnswer() throws Exception {
    System.out.println("SwapIT -Dkvindex.test.seed=" + SEED);
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED);
        EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("kafka"));
        ServerProcess first = SwapSite.replica(SwapSite.FIRST, directory, broker);
        ServerProcess second = SwapSite.replica(SwapSite.SECOND, directory, broker)) {
      SwapSite site = new SwapSite(directory, broker, first, second);
      first.awaitReady();
      try (Bridge bridge =
          Bridge.start(BridgeConfig.at(broker.bootstrapServers()), new SimpleMeterRegistry())) {
        List<SimulatedEngine> engines = load.engines();
        engines.forEach(engine -> first.api().register(engine, "default"));
        load.send(BATCHES);
        second.awaitReady();
        site.awaitTruth(engines, SEED);

        long start = System.nanoTime();
        try (TruthLoop here = new TruthLoop(List.of(first.api(), second.api()), engines, SEED);
            TruthLoop there = new TruthLoop(List.of(second.api(), first.api()), engines, SEED)) {
          assertThat(site.swap()).isZero();
          here.goOn();
          there.goOn();
        }
        System.out.println("swap took ms=" + (System.nanoTime() - start) / 1_000_000);
        site.assertServes("kvindex-table-1");
        load.send(BATCHES);
        site.awaitTruth(engines, SEED);

        try (TruthLoop asking = new TruthLoop(List.of(first.api(), second.api()), engines, SEED)) {
          CompletableFuture<Integer> swap = CompletableFuture.supplyAsync(site::swap);
          await()
              .atMost(Duration.ofSeconds(60))
              .until(() -> first.api().metric("kvindex_table_beside") == 1);
          asking.disturb(second.api());
          second.process().kill();
          second.process().restart();
          assertThat(swap.get(120, TimeUnit.SECONDS)).isZero();
          asking.goOn();
        }
        second.awaitReady();
        site.assertServes("kvindex-table-2");
        site.awaitTruth(engines, SEED);
        assertThat(bridge).isNotNull();
      }
    }
  }
}
