// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** One that has no table has others answer, or says that it can't: never an empty answer. */
@Tag("broker")
class LoadingReplicaIT {

  private static final long SEED = TestSeed.of(LoadingReplicaIT.class);
  private static final Duration LONG = Duration.ofSeconds(120);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Timeout(300)
  void shouldForwardOrRefuse_whileItsTableIsNotThere() throws Exception {
    try (LoadedEngines load = new LoadedEngines(2, SEED);
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess bridge = broker.bridge();
        ServerProcess whole = index("whole", broker)) {
      whole.awaitReady();
      load.engines().forEach(engine -> whole.api().register(engine, "default"));
      load.send(200);
      awaitTruth(whole.api(), load);
      // Where a file is no directory can be made: no table is to be had, be it borrowed or folded.
      Path obstacle = Files.createDirectories(directory.resolve("other/other")).resolve("tables");
      Files.createFile(obstacle);
      try (ServerProcess other = index("other", broker)) {
        awaitTruth(other.api(), load);
        assertThat(other.api().isReady()).isFalse();
        assertThat(other.api().metric("kvindex_forward_time_seconds_count")).isPositive();
        whole.process().kill();
        int[] prompt = LoadedEngines.prompt(new Random(SEED));
        assertThatThrownBy(() -> other.api().query("default", prompt, null, 16))
            .isInstanceOf(Api.Refusal.class)
            .hasMessageContaining("answered 503")
            .hasMessageContaining("not_ready");
        Files.delete(obstacle);
        other.awaitReady();
        awaitTruth(other.api(), load);
      }
      bridge.requireAlive();
    }
  }

  private ServerProcess index(String name, BrokerProcess broker) throws IOException {
    return ServerProcess.index(
        name, Files.createDirectories(directory.resolve(name)), broker.address(), Map.of());
  }

  private static void awaitTruth(Api api, LoadedEngines load) {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              truth.checkPrompts(api, load.engines(), SEED, 20);
              assertThat(truth.nonZero()).isPositive();
            });
  }
}
