// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Broker, bridge and indexer as processes of their own; bridge and indexer killed and started again
 * under load, and a second indexer that takes over.
 */
@Tag("broker")
class SeparateProcessesIT {

  private static final long SEED = TestSeed.of(SeparateProcessesIT.class);

  /** How fast rows come back is not asked here, and a full machine has to catch up with them. */
  private static final Duration STEP = Duration.ofMillis(25);

  private static final int PROMPTS = 200;
  private static final long RUN_MS = 2_000;
  private static final String DRAIN_SECONDS = "3";

  @TempDir private Path directory;

  @Test
  @Timeout(300)
  void shouldAnswerWhatTheEnginesHold_whenPartsAreKilledAndStartedAgain()
      throws InterruptedException {
    try (LoadedEngines load = new LoadedEngines(3, SEED, STEP, options -> {});
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess bridge = broker.bridge();
        ServerProcess index =
            ServerProcess.index(
                "index", directory, broker.address(), Map.of("KVINDEX_DRAIN", DRAIN_SECONDS))) {
      index.awaitReady();
      load.engines().forEach(engine -> index.api().register(engine, "default"));
      load.start();
      bridge.letRun(RUN_MS);
      bridge.kill();
      index.process().letRun(RUN_MS);
      bridge.restart();
      index.process().kill();
      bridge.letRun(RUN_MS);
      index.process().restart();
      index.awaitReady();
      load.pause();
      broker.requireAlive();
      check(index.api(), load.engines());
      try (ServerProcess second =
          ServerProcess.index("second", directory, broker.address(), Map.of())) {
        second.awaitReady();
        stopUnnoticed(index, second);
        assertThat(second.api().isReady()).isTrue();
        check(second.api(), load.engines());
      }
    }
  }

  /** The one that keeps the tables is told to stop; the other has a copy and takes over. */
  private static void stopUnnoticed(ServerProcess active, ServerProcess standby)
      throws InterruptedException {
    try (QueryLoop here = new QueryLoop(active.api(), SEED);
        QueryLoop there = new QueryLoop(standby.api(), SEED)) {
      await().until(() -> here.answers() > 20 && there.answers() > 20);
      active.process().askToStop();
      await().until(() -> !active.api().isReady());
      assertThat(active.api().get("/ready", 503).path("error").asText()).contains("draining");
      int answered = here.answers();
      // What is left of the time it said, but a little.
      active.process().letRun(TimeUnit.SECONDS.toMillis(Long.parseLong(DRAIN_SECONDS)) - 1_000);
      assertThat(here.answers()).as("answers while draining").isGreaterThan(answered + 20);
      here.close();
      active.close();
      int before = there.answers();
      await().until(() -> there.answers() > before + 500);
    }
  }

  private static void check(Api api, List<SimulatedEngine> engines) {
    for (SimulatedEngine engine : engines) {
      await()
          .atMost(Duration.ofSeconds(90))
          .untilAsserted(
              () ->
                  assertThat(api.visible(engine.options().name()))
                      .as("newest visible event of " + engine.options().name())
                      .isGreaterThanOrEqualTo(engine.lastSequence()));
    }
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(truth.nonZero()).isPositive();
  }
}
