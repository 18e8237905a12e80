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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server without history takes over another one's dump while engines store and evict, whose
 * replays do not reach back to their beginning. Once both have seen the same last events they
 * answer the same, and what the engines' caches say.
 */
@Tag("broker")
class DumpUnderLoadIT {

  private static final int ENGINES = 4;
  private static final int BLOCKS = 5_000;
  private static final int REPLAYED = 300;
  private static final Duration STEP = Duration.ofMillis(20);
  private static final int PROMPTS = 300;

  @TempDir private Path first;
  @TempDir private Path second;

  @Test
  @Timeout(240)
  void shouldAnswerAlike_whenADumpTakenUnderLoadWasTakenOver() throws Exception {
    long seed = TestSeed.of(DumpUnderLoadIT.class);
    Random random = new Random(seed);
    List<SimulatedEngine> engines = new ArrayList<>();
    AtomicBoolean running = new AtomicBoolean(true);
    Semaphore publishing = new Semaphore(1, true);
    try (AllInOne one = AllInOne.start(AllInOneOptions.in(first).withHttpPort(0))) {
      for (int i = 0; i < ENGINES; i++) {
        engines.add(
            EngineOptions.vllm("engine-" + i)
                .gpuBlocks(BLOCKS)
                .hostBlocks(i % 2 == 0 ? BLOCKS / 10 : 0)
                .replayBatches(REPLAYED)
                .start());
      }
      Api api = new Api(one.uri());
      engines.forEach(engine -> api.register(engine, "default"));
      fill(engines, random, api);
      CompletableFuture<Void> load =
          CompletableFuture.runAsync(() -> keepBusy(engines, random, publishing, running));

      List<String> peers = List.of(one.uri().toString());
      try (AllInOne two = AllInOne.start(AllInOneOptions.in(second).withHttpPort(0), peers)) {
        Api fresh = new Api(two.uri());
        await().atMost(Duration.ofSeconds(30)).until(() -> fresh.metric("kvindex_peer_held") > 0);
        // An import that its engine's first word overtakes is cut off (ADR 0003). How likely that
        // is is a question of the machine, and not asked here: until all is written nobody speaks.
        publishing.acquire();
        engines.forEach(engine -> engine.silenceReplay(true));
        engines.forEach(engine -> fresh.register(engine, "default"));
        await().atMost(Duration.ofSeconds(30)).until(() -> fresh.metric("kvindex_peer_held") == 0);
        engines.forEach(engine -> engine.silenceReplay(false));
        publishing.release();
        for (SimulatedEngine engine : engines) {
          long before = engine.lastSequence();
          await().until(() -> api.visible(engine.options().name()) > before);
        }
        running.set(false);
        load.get();
        awaitSame(engines, api);
        awaitSame(engines, fresh);

        assertThat(fresh.metric("kvindex_peer_blocks_total")).isGreaterThan(0.9 * ENGINES * BLOCKS);
        Truth truth = new Truth();
        Random asked = new Random(seed);
        for (int i = 0; i < PROMPTS; i++) {
          int[] prompt = prompt(asked);
          JsonNode rows = api.query("default", prompt, null, 16);
          engines.forEach(engine -> truth.check(rows, engine, prompt, null));
          assertThat(fresh.query("default", prompt, null, 16)).isEqualTo(rows);
        }
        assertThat(truth.nonZero()).isGreaterThan(PROMPTS);
        assertThat(truth.hostOnly()).isPositive();
      }
    } finally {
      running.set(false);
      engines.forEach(SimulatedEngine::close);
    }
  }

  /**
   * Ends in half a block, so that no prompt is ever found whole and no block computed twice: dumps
   * do not tell how many copies there are.
   */
  private static int[] prompt(Random random) {
    int[] whole = LoadedEngines.prompt(random);
    return Arrays.copyOf(whole, whole.length + 8);
  }

  private static void keepBusy(
      List<SimulatedEngine> engines, Random random, Semaphore publishing, AtomicBoolean running) {
    while (running.get()) {
      SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
      publishing.acquireUninterruptibly();
      engine.prefill(prompt(random), null, null);
      engine.flush();
      publishing.release();
      LockSupport.parkNanos(STEP.toNanos());
    }
  }

  /** So much that the beginning is in no replay any more. */
  private static void fill(List<SimulatedEngine> engines, Random random, Api api) {
    for (int i = 0; engines.get(0).lastSequence() < 2 * REPLAYED; i++) {
      for (SimulatedEngine engine : engines) {
        engine.prefill(prompt(random), null, null);
        engine.flush();
      }
      if (i % (REPLAYED / 4) == 0) { // the first server is to miss nothing
        awaitSame(engines, api);
      }
    }
    awaitSame(engines, api);
    for (SimulatedEngine engine : engines) {
      assertThat(engine.lastSequence()).isGreaterThan(REPLAYED + REPLAYED / 2L);
    }
  }

  private static void awaitSame(List<SimulatedEngine> engines, Api api) {
    for (SimulatedEngine engine : engines) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> api.visible(engine.options().name()) >= engine.lastSequence());
    }
  }
}
