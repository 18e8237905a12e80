// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kill -9} of the whole server in the middle of ingest, again and again, also while it
 * restores: nobody registers again, and afterwards every answer is what the engines hold. With the
 * engines gone before a restart, everything that was visible before the kill is still answered.
 */
@Tag("broker")
class KillRestartIT {

  /** One of a server that is ready, one of a server that starts, and so on. */
  private static final int KILLS = Integer.getInteger("kvindex.test.kills", 2);

  private static final long SEED = TestSeed.of(KillRestartIT.class);
  private static final int PROMPTS = 300;

  /** A server that starts has to catch up with engines that go on, on a slow machine too. */
  private static final Duration STEP = Duration.ofMillis(15);

  @TempDir private Path directory;

  @Test
  @Timeout(900)
  void shouldLoseNothing_whenKilledInTheMiddleOfIngest() throws InterruptedException {
    Random random = new Random(SEED);
    try (LoadedEngines load = new LoadedEngines(4, SEED, STEP, options -> {});
        ServerProcess server = ServerProcess.all(directory)) {
      server.awaitReady();
      load.engines().forEach(engine -> server.api().register(engine, "default"));
      load.start();
      for (int kill = 0; kill < KILLS; kill++) {
        if (kill % 2 == 0) {
          server.awaitReady();
        }
        server.process().letRun(random.nextInt(2_500));
        server.process().kill();
        server.process().restart();
      }
      server.awaitReady();
      load.pause();
      awaitVisible(server.api(), load.engines());
      List<JsonNode> answers = checkAnswers(server.api(), load.engines());

      load.engines().forEach(SimulatedEngine::kill);
      server.process().kill();
      server.process().restart();
      server.awaitReady();
      assertThat(answers(server.api())).isEqualTo(answers);
    }
  }

  private static List<JsonNode> checkAnswers(Api api, List<SimulatedEngine> engines) {
    Truth truth = new Truth();
    List<JsonNode> answers = truth.checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(truth.nonZero()).isPositive();
    return answers;
  }

  private static List<JsonNode> answers(Api api) {
    Random random = new Random(SEED);
    List<JsonNode> answers = new ArrayList<>();
    for (int i = 0; i < PROMPTS; i++) {
      answers.add(api.query("default", LoadedEngines.prompt(random), null, 16));
    }
    return answers;
  }

  private static void awaitVisible(Api api, List<SimulatedEngine> engines) {
    for (SimulatedEngine engine : engines) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(api.visible(engine.options().name()))
                      .as("newest visible event of " + engine.options().name())
                      .isGreaterThanOrEqualTo(engine.lastSequence()));
    }
  }
}
