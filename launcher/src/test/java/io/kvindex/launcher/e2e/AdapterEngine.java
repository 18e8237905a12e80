// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * An engine of a tenant of its own that serves adapters beside its base model, and requests with a
 * salt, of the same prompts as the others.
 */
final class AdapterEngine implements AutoCloseable {

  private static final String TENANT = "adapters";
  private static final @Nullable String[] ADAPTERS = {null, "sql", "chat"};
  private static final int PROMPTS = 20;

  private final SimulatedEngine engine =
      EngineOptions.vllm("adapter-engine").gpuBlocks(1_000).hostBlocks(300).start();
  private final Random random;
  private final long seed;

  AdapterEngine(long seed) {
    this.seed = seed;
    random = new Random(seed);
  }

  void register(Api api) {
    api.register(engine, TENANT);
  }

  void work(int batches) {
    for (int i = 0; i < batches; i++) {
      String adapter = ADAPTERS[random.nextInt(ADAPTERS.length)];
      String salt = random.nextInt(4) == 0 ? "salt" : null;
      engine.prefill(LoadedEngines.prompt(random), adapter, salt);
      engine.flush();
    }
  }

  /** Every number is what the cache says, whatever adapter is asked for. */
  void assertHeld(Api api) {
    for (String adapter : ADAPTERS) {
      Truth truth = new Truth();
      Random prompts = new Random(seed);
      for (int i = 0; i < PROMPTS; i++) {
        int[] prompt = LoadedEngines.prompt(prompts);
        JsonNode rows = api.query(TENANT, prompt, adapter, engine.options().blockSize());
        truth.check(rows, engine, prompt, adapter);
      }
      assertThat(truth.nonZero()).as("hits of adapter " + adapter).isPositive();
    }
  }

  @Override
  public void close() {
    engine.close();
  }
}
