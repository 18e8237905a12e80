// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Dynamo's {@code DYN_ROUTER_MIN_INITIAL_WORKERS} on a server of its own. */
@Tag("broker")
class InitialWorkersIT {

  private static final String WAITING =
      "{\"error\":\"%d of the 2 initial workers are registered\",";

  @Test
  @Timeout(120)
  void shouldAnswerButNotBeReady_untilTheInitialWorkersAreThere(@TempDir Path directory)
      throws Exception {
    try (ServerProcess server =
        ServerProcess.all(directory, Map.of("DYN_ROUTER_MIN_INITIAL_WORKERS", "2"))) {
      Api api = server.api();
      await()
          .atMost(Duration.ofSeconds(90))
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(notReady(api)).startsWith(WAITING.formatted(0)));
      ObjectNode query = body().put("block_size", 4);
      query.putArray("token_ids").add(1);
      assertThat(api.post("/query", query, 404).path("error").asText()).startsWith("no indexer");

      register(api, 1, 0);
      register(api, 1, 1);
      assertThat(notReady(api)).as("two ranks are one worker").startsWith(WAITING.formatted(1));
      assertThat(api.post("/query", query).path("instances").size()).isZero();
      register(api, 2, 0);
      assertThat(api.isReady()).isTrue();

      api.post("/unregister", body().put("instance_id", 1));
      assertThat(api.isReady()).as("only the first ones are waited for").isTrue();
    }
  }

  private static String notReady(Api api) {
    return api.get("/ready", 503).toString();
  }

  private static void register(Api api, int id, int rank) {
    ObjectNode body = body().put("instance_id", id).put("dp_rank", rank).put("block_size", 4);
    api.post("/register", body.put("endpoint", "tcp://127.0.0.1:1"), 201);
  }

  private static ObjectNode body() {
    return Api.JSON.createObjectNode().put("model_name", Api.MODEL);
  }
}
