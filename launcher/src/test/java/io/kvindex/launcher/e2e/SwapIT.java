// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.launcher.Main;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A rebuild takes the serving table's place under questions, and again while a replica dies. */
@Tag("broker")
class SwapIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime());
  private static final int ENGINES = 3;
  private static final int BATCHES = 150;
  private static final int PROMPTS = 30;

  @TempDir private Path directory;

  @Test
  @Timeout(300)
  void shouldServeTheRebuild_withoutOneFailedOrWrongAnswer() throws Exception {
    System.out.println("SwapIT -Dkvindex.test.seed=" + SEED);
    Random random = new Random(SEED);
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED);
        EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("kafka"));
        ServerProcess first = replica("first", broker);
        ServerProcess second = replica("second", broker)) {
      first.awaitReady();
      try (Bridge bridge =
          Bridge.start(BridgeConfig.at(broker.bootstrapServers()), new SimpleMeterRegistry())) {
        List<SimulatedEngine> engines = load.engines();
        engines.forEach(engine -> first.api().register(engine, "default"));
        something(engines, random);
        second.awaitReady();
        awaitTruth(first.api(), engines);
        awaitTruth(second.api(), engines);

        long start = System.nanoTime();
        try (TruthLoop here = new TruthLoop(List.of(first.api()), engines, SEED);
            TruthLoop there = new TruthLoop(List.of(second.api()), engines, SEED)) {
          assertThat(swap(broker)).isZero();
          here.goOn();
          there.goOn();
        }
        System.out.println("swap took ms=" + (System.nanoTime() - start) / 1_000_000);
        assertServes("kvindex-table-1", broker, first, second);
        something(engines, random);
        awaitTruth(first.api(), engines);
        awaitTruth(second.api(), engines);

        try (TruthLoop here = new TruthLoop(List.of(first.api()), engines, SEED)) {
          CompletableFuture<Integer> swap = CompletableFuture.supplyAsync(() -> swap(broker));
          await()
              .atMost(Duration.ofSeconds(60))
              .until(() -> first.api().metric("kvindex_table_beside") == 1);
          second.process().kill();
          second.process().restart();
          assertThat(swap.get(120, TimeUnit.SECONDS)).isZero();
          here.goOn();
        }
        second.awaitReady();
        assertServes("kvindex-table-2", broker, first, second);
        awaitTruth(second.api(), engines);
        assertThat(bridge).isNotNull();
      }
    }
  }

  private ServerProcess replica(String name, EmbeddedBroker broker) throws IOException {
    return ServerProcess.index(
        Files.createDirectory(directory.resolve(name)), broker.bootstrapServers());
  }

  private static void something(List<SimulatedEngine> engines, Random random) {
    for (int i = 0; i < BATCHES; i++) {
      SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
      engine.prefill(LoadedEngines.prompt(random), null, null);
      engine.flush();
    }
  }

  private int swap(EmbeddedBroker broker) {
    return run(
        "replay",
        "--swap",
        "--from",
        "beginning",
        "--kafka",
        broker.bootstrapServers(),
        "--swap-wait",
        "2",
        "--data-dir",
        directory.resolve("rebuild").toString());
  }

  private static int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    PrintWriter out = new PrintWriter(System.out, true);
    commandLine.setOut(out);
    commandLine.setErr(out);
    return commandLine.execute(arguments);
  }

  /** Both replicas have it, the same in each, and nothing is left of its predecessor. */
  private void assertServes(
      String application, EmbeddedBroker broker, ServerProcess first, ServerProcess second)
      throws Exception {
    for (ServerProcess replica : List.of(first, second)) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                assertThat(replica.api().get("/cluster").path("application").asText())
                    .isEqualTo(application);
                assertThat(replica.api().get("/cluster").path("replicas")).hasSize(2);
                assertThat(replica.api().isReady()).isTrue();
                assertThat(replica.api().metric("kvindex_table_beside")).isZero();
                assertThat(replica.api().metric("kvindex_blocks")).isPositive();
              });
    }
    assertThat(run("diff", url(first), url(second))).as("digests").isZero();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      assertThat(admin.listTopics().names().get())
          .filteredOn(topic -> topic.endsWith("-changelog"))
          .containsExactly(application + "-prefix-table-changelog");
      assertThat(admin.listGroups().all().get())
          .extracting(GroupListing::groupId)
          .filteredOn(group -> !group.equals("kvindex-bridge"))
          .containsExactly(application);
    }
    for (String name : List.of("first", "second")) {
      try (var files = Files.list(directory.resolve(name).resolve("index").resolve("tables"))) {
        assertThat(
                files
                    .map(file -> file.getFileName().toString())
                    .filter(file -> !file.equals("tables.lock")))
            .as("tables of " + name)
            .contains(application)
            .allMatch(file -> file.startsWith(application));
      }
    }
  }

  private static String url(ServerProcess replica) {
    return "http://" + replica.api().get("/cluster").path("answered_by").asText();
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
