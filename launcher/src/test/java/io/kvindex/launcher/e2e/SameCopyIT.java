// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.replica.ReplicaDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** As with a data directory that was copied: two processes must not be one copy. */
@Tag("broker")
class SameCopyIT {

  private static final Duration SOON = Duration.ofSeconds(60);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Timeout(300)
  void shouldRefuseTheSecondOne_untilTheFirstIsGone() throws Exception {
    try (BrokerProcess broker = BrokerProcess.start(directory);
        ServerProcess first = index("first", broker)) {
      first.awaitReady();
      String before = ClusterView.address(first.api());
      awaitTold(broker, before);
      CommandRun second = new CommandRun();
      assertThat(
              second.run(
                  "index",
                  "--kafka",
                  broker.address(),
                  "--http-port",
                  "0",
                  "--data-dir",
                  directory.resolve("second").toString(),
                  "--copy",
                  "one"))
          .isNotZero();
      assertThat(second.err()).contains("another process runs as copy one at " + before, "--copy");
      first.process().kill();
      try (ServerProcess moved = index("moved", broker)) {
        moved.awaitReady();
        await()
            .atMost(SOON)
            .untilAsserted(
                () ->
                    assertThat(
                            moved
                                .api()
                                .get("/cluster")
                                .path("replicas")
                                .findValuesAsText("address"))
                        .containsExactly(ClusterView.address(moved.api())));
      }
    }
  }

  /** Others know of it as soon as it may be asked, or a moment later. */
  private static void awaitTold(BrokerProcess broker, String address) {
    try (ReplicaDirectory directory =
        new ReplicaDirectory(Map.of("bootstrap.servers", broker.address()))) {
      await().atMost(SOON).until(() -> directory.of(address) != null);
    }
  }

  private ServerProcess index(String name, BrokerProcess broker) throws IOException {
    return ServerProcess.index(
        name,
        Files.createDirectory(directory.resolve(name)),
        broker.address(),
        Map.of("KVINDEX_COPY", "one"));
  }
}
