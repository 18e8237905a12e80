// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kill -9} of the whole server within 5 s of a registration, right behind the first batches
 * of an engine that is gone before the server is back: what was visible is still answered. Twenty
 * kills: {@code -Dkvindex.test.kills=20}.
 */
@Tag("broker")
class FirstBatchesKillIT {

  private static final int KILLS = Integer.getInteger("kvindex.test.kills", 2);
  private static final long SEED = TestSeed.of(FirstBatchesKillIT.class);
  private static final int BATCHES = 100;
  private static final int PROMPTS = 60;
  private static final long SOON_MS = 5_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path directory;

  @Test
  @Timeout(1_800)
  void shouldKeepWhatWasVisible_whenKilledBehindAnEnginesFirstBatches() throws Exception {
    Random random = new Random(SEED);
    List<SimulatedEngine> gone = new ArrayList<>();
    int early = 0;
    try (ServerProcess server = ServerProcess.all(directory)) {
      for (int kill = 0; kill < KILLS; kill++) {
        server.awaitReady();
        EngineOptions options =
            EngineOptions.vllm("gone-" + kill).gpuBlocks(400).hostBlocks(kill % 2 * 400);
        try (SimulatedEngine engine = options.start()) {
          long begun = System.nanoTime();
          server.api().register(engine, "default");
          send(engine, random);
          await()
              .pollInterval(Duration.ofMillis(10))
              .atMost(PATIENCE)
              .until(() -> server.api().visible(name(engine)) >= engine.lastSequence());
          long left = SOON_MS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
          server.process().letRun(left < 2 ? 0 : random.nextInt((int) Math.min(left, 800)));
          early += System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(SOON_MS) ? 1 : 0;
          server.process().kill();
          engine.kill();
          gone.add(engine);
        }
        server.process().restart();
        server.awaitReady();
        awaitFollowed(server.api(), name(gone.get(kill)));
        check(server.api(), gone.subList(kill, kill + 1));
      }
      check(server.api(), gone);
    }
    assertThat(early).as("of %d kills, within 5 s of the registration", KILLS).isPositive();
  }

  private static void send(SimulatedEngine engine, Random random) {
    while (engine.lastSequence() < BATCHES - 1) {
      engine.prefill(LoadedEngines.prompt(random), null, null);
      engine.flush();
    }
  }

  /** The bridge that took it over says so: a new life would have been begun by then. */
  private static void awaitFollowed(Api api, String name) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(api.listener(name).path("connected").asBoolean(true)).isFalse();
              assertThat(api.listener(name).path("last_sequence").asLong(-1))
                  .as("%s", api.listener(name))
                  .isEqualTo(BATCHES - 1);
            });
  }

  private static void check(Api api, List<SimulatedEngine> engines) {
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(truth.nonZero()).isPositive();
  }

  private static String name(SimulatedEngine engine) {
    return engine.options().name();
  }
}
