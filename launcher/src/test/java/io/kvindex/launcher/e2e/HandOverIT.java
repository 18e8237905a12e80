// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two bridges share the publishers. One is killed under load, one stands still until the other has
 * taken over and then goes on as if nothing had happened, and engines are restarted meanwhile:
 * nothing is lost, doubled, silenced or brought back.
 */
@Tag("broker")
class HandOverIT {

  private static final long SEED = TestSeed.of(HandOverIT.class);
  private static final int ENGINES = 6;
  private static final int PROMPTS = 60;
  private static final long RUN_MS = 2_000;

  /** How fast rows come back is not asked here, and a full machine has to catch up with them. */
  private static final Duration STEP = Duration.ofMillis(20);

  /** Longer than the group waits for a member, which is 6 s. */
  private static final long FROZEN_MS = TimeUnit.SECONDS.toMillis(9);

  @TempDir private Path directory;

  @Test
  @Timeout(400)
  void shouldAnswerWhatTheEnginesHold_whenBridgesAreKilledAndFrozen() throws InterruptedException {
    Random random = new Random(SEED);
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED, STEP, options -> {});
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess first = broker.bridge();
        ChildProcess second = broker.bridge();
        ServerProcess index = ServerProcess.index(directory, broker.address())) {
      index.awaitReady();
      load.engines().forEach(engine -> index.api().register(engine, "default"));
      load.start();
      second.letRun(RUN_MS);
      first.kill();
      second.letRun(RUN_MS);
      first.restart();
      restartOne(load, random);
      second.letRun(FROZEN_MS);

      second.freeze();
      restartOne(load, random);
      first.letRun(FROZEN_MS);
      restartOne(load, random);
      second.thaw();
      second.letRun(RUN_MS);

      first.kill();
      second.letRun(RUN_MS);
      restartOne(load, random);
      second.letRun(RUN_MS);
      first.restart();
      load.pause();
      broker.requireAlive();
      awaitTruth(index.api(), load.engines());
    }
  }

  private static void restartOne(LoadedEngines load, Random random) {
    load.engines().get(random.nextInt(ENGINES)).restart();
  }

  private static void awaitTruth(Api api, List<SimulatedEngine> engines) {
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              truth.checkPrompts(api, engines, SEED, PROMPTS);
              assertThat(truth.nonZero()).isPositive();
              assertThat(truth.compared()).isEqualTo(PROMPTS * ENGINES);
            });
  }
}
