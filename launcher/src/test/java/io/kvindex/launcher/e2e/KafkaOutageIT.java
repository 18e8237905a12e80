// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.chaos.ChildProcess;
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
 * Kafka is away while engines go on: the bridge, which has little memory, holds so much and leaves
 * the rest to the engines; afterwards nothing is missing and nobody is degraded. The outage is
 * {@code -Dkvindex.test.outage=SECONDS} long.
 */
@Tag("broker")
class KafkaOutageIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime());
  private static final long OUTAGE_MS =
      TimeUnit.SECONDS.toMillis(Long.getLong("kvindex.test.outage", 20));
  private static final int ENGINES = 6;
  private static final int PROMPTS = 60;

  @TempDir private Path directory;

  @Test
  @Timeout(400)
  void shouldAnswerWhatTheEnginesHold_whenKafkaWasAwayUnderLoad() throws InterruptedException {
    System.out.println("seed " + SEED);
    int kafkaPort = ChildProcess.freePort();
    String kafka = "127.0.0.1:" + kafkaPort;
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED);
        ChildProcess broker =
            new ChildProcess(
                directory,
                "broker",
                "--port",
                Integer.toString(kafkaPort),
                "--data-dir",
                directory.resolve("b").toString());
        ChildProcess bridge =
            new ChildProcess(
                "bridge",
                directory,
                "128m",
                List.of("bridge", "--kafka", kafka, "--http-port", "0"));
        ServerProcess index = ServerProcess.index(directory, kafka)) {
      index.awaitReady();
      load.engines().forEach(engine -> index.api().register(engine, "default"));
      load.start();
      bridge.letRun(3_000);
      long before = published(load);
      broker.kill();
      bridge.letRun(OUTAGE_MS);
      long meanwhile = published(load) - before;
      broker.restart();
      bridge.letRun(2_000);
      load.pause();
      awaitTruth(index.api(), load.engines());
      System.out.printf("%d batches while Kafka was away %d ms%n", meanwhile, OUTAGE_MS);
      assertThat(meanwhile).isGreaterThan(OUTAGE_MS / 50);
      assertThat(index.api().get("/workers").toString())
          .doesNotContain("degraded", "batches_lost", "new_lives", "sends_failed");
      bridge.requireAlive();
    }
  }

  private static long published(LoadedEngines load) {
    return load.engines().stream().mapToLong(SimulatedEngine::lastSequence).sum();
  }

  private static void awaitTruth(Api api, List<SimulatedEngine> engines) {
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              Random random = new Random(SEED);
              for (int i = 0; i < PROMPTS; i++) {
                int[] prompt = LoadedEngines.prompt(random);
                JsonNode rows = api.query("default", prompt, null, 16);
                for (SimulatedEngine engine : engines) {
                  truth.check(rows, engine, prompt, null);
                }
              }
              assertThat(truth.nonZero()).isPositive();
            });
  }
}
