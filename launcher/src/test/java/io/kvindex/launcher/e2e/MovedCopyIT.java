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

/** A process that comes back elsewhere is not taken for another one of its copy. */
@Tag("broker")
class MovedCopyIT {

  private static final Duration SOON = Duration.ofSeconds(60);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Timeout(300)
  void shouldForgetTheOldAddress_whenACopyComesBackElsewhere() throws Exception {
    try (BrokerProcess broker = BrokerProcess.start(directory);
        ServerProcess first = index("first", broker)) {
      first.awaitReady();
      String before = ClusterView.address(first.api());
      awaitTold(broker, before);
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
