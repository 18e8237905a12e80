// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One batch that makes more than a Kafka record may hold is split, not lost. */
@Tag("broker")
class LargeBatchIT {

  private static final int BLOCKS = 65_536;
  private static final int BLOCK_SIZE = 16;

  @TempDir private Path directory;

  @Test
  @Timeout(120)
  void shouldFindEveryBlock_whenOneBatchIsBeyondARecord() throws Exception {
    int[] prompt = IntStream.range(0, BLOCKS * BLOCK_SIZE).map(i -> i % 100_000).toArray();
    try (SimulatedEngine engine = EngineOptions.vllm("large").gpuBlocks(BLOCKS + 10).start();
        AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      api.register(engine, "default");
      engine.prefill(prompt, null, null);
      engine.flush();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> api.visible("large") == engine.lastSequence());
      Truth truth = new Truth();
      truth.check(api.query("default", prompt, null, BLOCK_SIZE), engine, prompt, null);
      assertThat(truth.nonZero()).isEqualTo(1);
      assertThat(api.get("/workers").toString()).doesNotContain("degraded", "sends_failed");
    }
  }
}
