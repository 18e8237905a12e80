// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Brokers, bridges and indexers as processes of their own, as deploy/local-cluster.sh runs them; a
 * broker and an indexer are killed under load and started again.
 */
@Tag("broker")
class LocalClusterIT {

  private static final long SEED = TestSeed.of(LocalClusterIT.class);

  /** How fast rows come back is not asked here, and a full machine has to catch up with them. */
  private static final Duration STEP = Duration.ofMillis(25);

  private static final int PROMPTS = 200;
  private static final Duration SOON = Duration.ofSeconds(90);

  /** Fewer than there are by default: what they do is the same. */
  private static final String[] OPTIONS = {
    "--bridges", "1", "--indexers", "2", "--partitions", "2", "--index-args", "--drain 0"
  };

  @TempDir private Path directory;

  @Test
  @Timeout(400)
  void shouldAnswerWhatTheEnginesHold_whenABrokerAndAnIndexerAreKilled() throws Exception {
    try (LoadedEngines load = new LoadedEngines(3, SEED, STEP, options -> {});
        LocalCluster cluster = new LocalCluster(directory, OPTIONS)) {
      cluster.start();
      load.engines().forEach(engine -> cluster.index(1).register(engine, "default"));
      load.start();
      await().atMost(SOON).until(() -> cluster.index(2).visible("engine-0") > 20);
      cluster.run("kill", "broker-1,index-1");
      long seen = load.engines().get(0).lastSequence();
      await().atMost(SOON).until(() -> cluster.index(2).visible("engine-0") > seen);
      cluster.start();
      load.pause();
      for (int index = 1; index <= 2; index++) {
        check(cluster.index(index), load.engines());
      }
    }
  }

  private static void check(Api api, List<SimulatedEngine> engines) {
    for (SimulatedEngine engine : engines) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () ->
                  assertThat(api.visible(engine.options().name()))
                      .as("newest visible event of " + engine.options().name())
                      .isGreaterThanOrEqualTo(engine.lastSequence()));
    }
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(truth.nonZero()).isPositive();
  }
}
