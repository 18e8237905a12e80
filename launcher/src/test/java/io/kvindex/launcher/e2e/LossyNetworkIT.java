// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Live events are lost, doubled, overtaken and cut on their way, connections break, engines are
 * restarted, with and without a broken connection to show for it. Replay can reach everything, so
 * in the end every answer is what the engines hold and nobody is marked degraded.
 */
@Tag("broker")
class LossyNetworkIT {

  private static final long SEED = TestSeed.of(LossyNetworkIT.class);
  private static final int STEPS = Integer.getInteger("kvindex.test.steps", 3_000);
  private static final int ENGINES = 4;
  private static final Faults FAULTS = new Faults(0.05, 0.05, 0.05, 0.02);

  @TempDir private Path directory;

  private final Random random = new Random(SEED);
  private final List<SimulatedEngine> engines = new ArrayList<>();
  private final List<LossyProxy> proxies = new ArrayList<>();

  @AfterEach
  void close() throws InterruptedException {
    for (LossyProxy proxy : proxies) {
      proxy.close();
    }
    engines.forEach(SimulatedEngine::close);
  }

  @Test
  @Timeout(300)
  void shouldAnswerWhatTheEnginesHold_whenTheNetworkLosesAndEnginesRestart()
      throws IOException, InterruptedException {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      start(api);
      int restarts = 0;
      for (int step = 0; step < STEPS; step++) {
        work(random.nextInt(ENGINES));
        if (step % 500 == 250) {
          restarts++;
          int i = random.nextInt(ENGINES);
          engines.get(i).restart();
          if (restarts % 2 == 0) {
            proxies.get(i).breakConnections();
          }
        }
        if (step % 50 == 0) {
          api.query("default", LoadedEngines.prompt(random), null, 16);
        }
      }
      for (int i = 0; i < ENGINES; i++) {
        proxies.get(i).faults(Faults.NONE);
      }
      awaitTruth(api);
      assertThat(sum(LossyProxy::dropped)).as("lost").isGreaterThan(STEPS / 40);
      assertThat(sum(LossyProxy::duplicated)).as("doubled").isGreaterThan(STEPS / 40);
      assertThat(sum(LossyProxy::delayed)).as("overtaken").isGreaterThan(STEPS / 40);
      assertThat(sum(LossyProxy::truncated)).as("cut").isGreaterThan(STEPS / 100);
      assertThat(api.get("/workers").toString()).doesNotContain("degraded", "batches_lost");
    }
  }

  private void start(Api api) {
    for (int i = 0; i < ENGINES; i++) {
      SimulatedEngine engine =
          EngineOptions.vllm("engine-" + i).gpuBlocks(400).hostBlocks(i % 2 == 0 ? 400 : 0).start();
      engines.add(engine);
      LossyProxy proxy = new LossyProxy(engine.endpoint(), SEED + i, FAULTS);
      proxies.add(proxy);
      api.register(engine, proxy.endpoint(), "default");
    }
  }

  private void work(int i) {
    engines.get(i).prefill(LoadedEngines.prompt(random), null, null);
    engines.get(i).flush();
  }

  /** Each engine goes on a little until its newest batches are heard of. */
  private void awaitTruth(Api api) {
    await()
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(200))
        .untilAsserted(
            () -> {
              for (int i = 0; i < ENGINES; i++) {
                work(i);
                awaitVisible(api, engines.get(i));
              }
              check(api);
            });
  }

  private static void awaitVisible(Api api, SimulatedEngine engine) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> api.visible(engine.options().name()) == engine.lastSequence());
  }

  private void check(Api api) {
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, 100);
    assertThat(truth.nonZero()).isPositive();
  }

  private long sum(ToLongFunction<LossyProxy> counter) {
    return proxies.stream().mapToLong(counter).sum();
  }
}
