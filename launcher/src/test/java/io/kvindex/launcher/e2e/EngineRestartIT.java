// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Engines die and come back under the same name and ports, with an empty cache: nothing of the dead
 * one stays in the answers, and nothing of the new one is missing.
 */
@Tag("broker")
class EngineRestartIT {

  private static final int RESTARTS = Integer.getInteger("kvindex.test.restarts", 12);
  private static final long SEED = TestSeed.of(EngineRestartIT.class);

  @TempDir private Path directory;

  private final Random random = new Random(SEED);
  private final List<SimulatedEngine> engines = new ArrayList<>();
  private int checked;
  private int nonZero;

  @AfterEach
  void closeEngines() {
    engines.forEach(SimulatedEngine::close);
  }

  @Test
  @Timeout(300)
  void shouldAnswerWhatTheNewEngineHolds_whenOneIsRestarted()
      throws IOException, InterruptedException {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      startEngines(api);
      for (int i = 0; i < RESTARTS; i++) {
        work(engines, 60);
        awaitTruth(api); // an engine that dies before it is heard of leaves nothing to be noticed
        SimulatedEngine restarted = engines.get(random.nextInt(engines.size()));
        restarted.restart();
        // Nothing, a little, or more than the one before had sent: all are told apart.
        work(List.of(restarted), i % 4 == 0 ? 0 : i % 4 == 3 ? 100 : 1 + random.nextInt(5));
        awaitTruth(api);
      }
      await()
          .atMost(Duration.ofSeconds(10))
          .untilAsserted(() -> assertThat(restarts(api)).isEqualTo(RESTARTS));
      assertThat(nonZero).isGreaterThan(checked / 10);
    }
  }

  @Test
  @Timeout(300)
  void shouldAnswerWhatTheNewEngineHolds_whenItWasRestartedWhileTheServerWasDown()
      throws InterruptedException {
    try (ServerProcess server = ServerProcess.all(directory)) {
      server.awaitReady();
      startEngines(server.api());
      for (int round = 0; round < 2; round++) {
        work(engines, 200);
        awaitTruth(server.api());
        server.process().kill();
        for (int i = 0; i < engines.size(); i++) {
          if (i % 2 == round % 2) {
            engines.get(i).restart();
            work(List.of(engines.get(i)), i == 0 ? 0 : 20);
          }
        }
        server.process().restart();
        server.awaitReady();
        awaitTruth(server.api());
      }
    }
  }

  private void startEngines(Api api) {
    for (int i = 0; i < 4; i++) {
      SimulatedEngine engine =
          EngineOptions.vllm("engine-" + i).gpuBlocks(400).hostBlocks(i % 2 == 0 ? 400 : 0).start();
      engines.add(engine);
      api.register(engine, "default");
    }
  }

  private void work(List<SimulatedEngine> some, int steps) {
    for (int i = 0; i < steps; i++) {
      SimulatedEngine engine = some.get(random.nextInt(some.size()));
      engine.prefill(LoadedEngines.prompt(random), null, null);
      engine.flush();
    }
  }

  private void awaitTruth(Api api) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(() -> check(api));
  }

  private void check(Api api) {
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, 30);
    checked += truth.compared();
    nonZero += truth.nonZero();
  }

  /** New lives that the bridge has seen. */
  private static int restarts(Api api) {
    int sum = 0;
    for (JsonNode worker : api.get("/workers")) {
      sum += worker.path("listeners").path("0").path("counters").path("new_lives").asInt();
    }
    return sum;
  }
}
