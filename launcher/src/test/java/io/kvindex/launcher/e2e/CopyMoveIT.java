// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Routers go from one copy to another that was made from the log, which then is the only one. */
@Tag("broker")
class CopyMoveIT {

  private static final long SEED = TestSeed.of(CopyMoveIT.class);
  private static final int ENGINES = 3;
  private static final int BATCHES = 150;
  private static final int PROMPTS = 30;
  private static final String REBUILT = "rebuilt";

  @TempDir private Path directory;

  private final CommandRun command = new CommandRun();

  @Test
  @Timeout(300)
  void shouldAnswerAllAndRight_whileRoutersMoveToARebuiltCopy() throws Exception {
    Path data = directory.resolve("data");
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED);
        EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("kafka"));
        ServerProcess old = ServerProcess.index(directory, broker.bootstrapServers())) {
      old.awaitReady();
      try (Bridge bridge =
          Bridge.start(BridgeConfig.at(broker.bootstrapServers()), new SimpleMeterRegistry())) {
        List<SimulatedEngine> engines = load.engines();
        engines.forEach(engine -> old.api().register(engine, "default"));
        load.send(BATCHES);
        awaitTruth(old.api(), engines);
        assertThat(replay(broker, data)).isZero();
        assertThat(command.out())
            .contains("the log was whole")
            .containsPattern("[1-9][0-9,]* block operations in");
        load.send(BATCHES);
        try (ServerProcess rebuilt =
            ServerProcess.index(
                REBUILT, data.resolve("replay"), broker.bootstrapServers(), Map.of())) {
          rebuilt.awaitReady();
          awaitTruth(rebuilt.api(), engines);
          assertThat(rebuilt.api().get("/digests").path("copy").asText()).isEqualTo(REBUILT);
          assertThat(command.run("diff", old.url(), rebuilt.url())).isZero();
          try (TruthLoop asking = new TruthLoop(List.of(old.api(), rebuilt.api()), engines, SEED)) {
            asking.goOn();
            asking.disturb(old.api()); // the load balancer sees that it is not ready any more
            old.close();
            asking.goOn();
          }
          assertThat(bridge).isNotNull();
        }
      }
    }
  }

  private int replay(EmbeddedBroker broker, Path data) {
    return command.run(
        "replay",
        "--exit",
        "--from",
        "beginning",
        "--copy",
        REBUILT,
        "--kafka",
        broker.bootstrapServers(),
        "--data-dir",
        data.toString());
  }

  private static void awaitTruth(Api api, List<SimulatedEngine> engines) {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              truth.checkPrompts(api, engines, SEED, PROMPTS);
              assertThat(truth.nonZero()).isPositive();
            });
  }
}
