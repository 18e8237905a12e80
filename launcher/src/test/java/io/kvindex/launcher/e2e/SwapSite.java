// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.Main;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import picocli.CommandLine;

/**
 * Two replicas whose table a rebuild replaces, and what must be true of them then. Neither the
 * broker nor the replicas are closed with it.
 *
 * @param directory everything is below it
 */
record SwapSite(Path directory, EmbeddedBroker broker, ServerProcess first, ServerProcess second) {

  static final String FIRST = "first";
  static final String SECOND = "second";

  private static final int PROMPTS = 30;

  /**
   * One of the two.
   *
   * @param name of its directory
   */
  static ServerProcess replica(String name, Path directory, EmbeddedBroker broker)
      throws IOException {
    return ServerProcess.index(
        Files.createDirectory(directory.resolve(name)), broker.bootstrapServers());
  }

  /** {@code kvindex replay --swap}, in this process; its exit code. */
  int swap() {
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
  void assertServes(String application) throws Exception {
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
    for (String name : List.of(FIRST, SECOND)) {
      try (var files = Files.list(directory.resolve(name).resolve("index").resolve("tables"))) {
        assertThat(
                files
                    .map(file -> file.getFileName().toString())
                    .filter(file -> !Set.of("tables.lock", "native").contains(file)))
            .as("tables of " + name)
            .contains(application)
            .allMatch(file -> file.startsWith(application));
      }
    }
  }

  private static String url(ServerProcess replica) {
    return "http://" + replica.api().get("/cluster").path("answered_by").asText();
  }

  /** Both answer what the engines' caches hold. */
  void awaitTruth(List<SimulatedEngine> engines, long seed) {
    for (ServerProcess replica : List.of(first, second)) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                Truth truth = new Truth();
                truth.checkPrompts(replica.api(), engines, seed, PROMPTS);
                assertThat(truth.nonZero()).isPositive();
              });
    }
  }
}
