// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.engine.EngineHashing;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.EventForm;
import io.kvindex.sandbox.engine.HostStoreForm;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.kvindex.sandbox.trace.TraceReader;
import io.kvindex.sandbox.trace.TraceRequest;
import io.kvindex.sandbox.trace.TraceTokens;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A production trace over engines with small caches: whatever the events' form, the engine's way of
 * hashing, tenant or adapter, every number of every answer equals the engine's own cache. The
 * oracle is a trie over token lists.
 */
@Tag("broker")
class TraceReplayIT {

  private static final int REQUESTS = Integer.getInteger("kvindex.test.requests", 300);
  private static final int MAX_TOKENS = Integer.getInteger("kvindex.test.maxTokens", 4_096);
  private static final long SEED = Long.getLong("kvindex.test.seed", 20_261_121L);
  private static final List<String> TENANTS = List.of("default", "customer-a");
  private static final @Nullable String[] ADAPTERS = {null, "sql", "chat"};
  private static final int GPU_BLOCKS = 1_500;
  private static final int HOST_BLOCKS = 1_500;

  @TempDir private Path directory;

  private final Random random = new Random(SEED);
  private final List<SimulatedEngine> engines = new ArrayList<>();
  private final Truth truth = new Truth();

  @Test
  @Timeout(600)
  void shouldAnswerWhatTheEnginesHold_whenATraceIsReplayed()
      throws IOException, InterruptedException {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      startEngines(api);
      replay(api);
      long evictions = engines.stream().mapToLong(e -> e.counters().gpuBlocksRemoved()).sum();
      assertThat(evictions).as("evictions").isGreaterThanOrEqualTo(REQUESTS * 10L);
      assertThat(truth.nonZero())
          .as("hits among %d answers, seed %d", truth.compared(), SEED)
          .isGreaterThanOrEqualTo(truth.compared() * 3 / 10);
      assertThat(truth.hostOnly()).as("hits in host memory alone, seed %d", SEED).isPositive();
    } finally {
      engines.forEach(SimulatedEngine::close);
    }
  }

  /** Four engines a tenant: both event forms, both ways of hashing, both forms of host stores. */
  private void startEngines(Api api) {
    for (int i = 0; i < 8; i++) {
      SimulatedEngine engine =
          EngineOptions.vllm("engine-" + i)
              .form(i % 2 == 0 ? EventForm.MAP : EventForm.ARRAY)
              .hashing(i % 4 < 2 ? EngineHashing.VLLM_SHA256_CBOR : EngineHashing.RANDOM)
              .hostStores(i < 4 ? HostStoreForm.TOKENS : HostStoreForm.PLACEHOLDER)
              .gpuBlocks(GPU_BLOCKS)
              .hostBlocks(HOST_BLOCKS)
              .start();
      engines.add(engine);
      api.register(engine, tenantOf(i));
    }
  }

  private static String tenantOf(int engine) {
    return TENANTS.get(engine % TENANTS.size());
  }

  private void replay(Api api) throws IOException {
    try (TraceReader trace = TraceReader.bundled()) {
      TraceTokens generator = TraceTokens.standard();
      for (int i = 0; i < REQUESTS; i++) {
        TraceRequest request = Objects.requireNonNull(trace.next(), "the trace is too short");
        int[] all = request.tokens(generator);
        int[] tokens = Arrays.copyOf(all, Math.min(all.length, MAX_TOKENS));
        String lora = ADAPTERS[random.nextInt(ADAPTERS.length)];
        compare(api, tokens, lora);
        SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
        engine.prefill(tokens, lora, null);
        engine.flush();
        awaitVisible(api, engine);
      }
    }
  }

  private void compare(Api api, int[] tokens, @Nullable String lora) {
    for (String tenant : TENANTS) {
      JsonNode rows = api.query(tenant, tokens, lora, 16);
      assertThat(rows.size())
          .as("rows of tenant " + tenant)
          .isEqualTo(engines.size() / TENANTS.size());
      for (int i = 0; i < engines.size(); i++) {
        if (tenantOf(i).equals(tenant)) {
          truth.check(rows, engines.get(i), tokens, lora);
        }
      }
    }
  }

  private static void awaitVisible(Api api, SimulatedEngine engine) {
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.visible(engine.options().name()) >= engine.lastSequence());
  }
}
