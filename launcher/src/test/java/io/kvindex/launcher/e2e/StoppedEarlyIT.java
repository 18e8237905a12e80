// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An indexer that is told to stop while it starts, or has just started. */
@Tag("broker")
class StoppedEarlyIT {

  /** Of a member that went without a word: longer than any stop takes on a busy machine. */
  private static final Duration SESSION = Duration.ofSeconds(60);

  private static final Map<String, String> LONG_SESSION =
      Map.of(
          "KVINDEX_COPY",
          "early",
          "KVINDEX_KAFKA_PROPERTIES",
          "main.consumer.session.timeout.ms=" + SESSION.toMillis());

  @TempDir private Path directory;

  @Test
  @Timeout(180)
  void shouldLeaveItsGroup_whenItIsStoppedAsSoonAsItHasJoined() throws Exception {
    try (BrokerProcess broker = BrokerProcess.start(directory);
        ServerProcess index =
            ServerProcess.index("index", directory, broker.address(), LONG_SESSION);
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.address()))) {
      await()
          .atMost(Duration.ofSeconds(90))
          .pollInterval(Duration.ofMillis(20))
          .until(() -> members(admin) > 0);
      index.process().askToStop();
      await()
          .atMost(SESSION.dividedBy(2))
          .pollInterval(Duration.ofMillis(50))
          .until(() -> members(admin) == 0);
    }
  }

  private static int members(Admin admin) throws InterruptedException, ExecutionException {
    try {
      return admin.describeConsumerGroups(List.of("kvindex-early")).all().get().values().stream()
          .mapToInt(group -> group.members().size())
          .sum();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return 0;
      }
      throw e;
    }
  }
}
