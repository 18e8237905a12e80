// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.engine.PayloadPublisher;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several registrations of one endpoint: its ranks, an adapter, another tenant. One engine with
 * data parallelism publishes the events of all its ranks through one socket.
 */
@Tag("broker")
class SharedEndpointIT {

  private static final int BLOCK = 2;
  private static final int[] PROMPT = IntStream.range(1, 9).toArray();
  private static final Duration WITHIN = Duration.ofSeconds(30);

  @TempDir private Path directory;

  private long next;

  @Test
  @Timeout(120)
  void shouldKeepRanksAdaptersAndTenantsApart_whenTheyShareAnEndpoint() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        PayloadPublisher engine = new PayloadPublisher("e", "127.0.0.1")) {
      Api api = new Api(server.uri());
      for (ObjectNode body :
          List.of(
              body(engine),
              body(engine).put("dp_rank", 1),
              body(engine).put("lora_name", "sql"),
              body(engine).put("tenant_id", "acme"))) {
        api.post("/register", body);
      }
      assertThat(services(api))
          .containsExactly("acme/0/", "default/0/", "default/0/sql", "default/1/");

      publish(engine, 0, stored(2, null));
      publish(engine, 1, stored(3, null));
      publish(engine, 0, stored(4, "sql"));
      String base = row(6, 6, "\"0\":4,\"1\":6");
      awaitRows(api, "default", null, base);
      awaitRows(api, "default", "sql", row(8, 8, "\"0\":8,\"1\":0"));
      // Rank 1 was not registered there, but it is listed since it holds something.
      awaitRows(api, "acme", null, base);
      awaitRows(api, "acme", "sql", row(8, 8, "\"0\":8,\"1\":0"));

      // What rank 1 gives up is gone from what both listeners of the tenant wrote.
      publish(engine, 1, Arrays.asList("BlockRemoved", List.of(103L), "GPU"));
      awaitRows(api, "default", null, row(4, 4, "\"0\":4,\"1\":4"));

      api.post("/unregister", body(engine).put("tenant_id", "acme"));
      awaitRows(api, "acme", null, "{}");
      awaitRows(api, "default", null, row(4, 4, "\"0\":4,\"1\":4"));

      JsonNode adapter = api.post("/unregister", body(engine).put("lora_name", "sql"));
      assertThat(adapter.path("removed_adapters").toString()).isEqualTo("[\"sql\"]");
      api.post("/unregister", body(engine).put("dp_rank", 1));
      assertThat(services(api)).containsExactly("default/0/");
      // The listener that is left follows the whole engine, both ranks of it.
      publish(engine, 1, stored(4, null));
      awaitRows(api, "default", null, row(8, 8, "\"0\":4,\"1\":8"));
      api.post("/unregister", body(engine));
      awaitRows(api, "default", null, "{}");
    }
  }

  private static ObjectNode body(PayloadPublisher engine) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", engine.endpoint())
        .put("replay_endpoint", engine.replayEndpoint())
        .put("type", "vLLM")
        .put("modelname", Api.MODEL)
        .put("instance_id", "e")
        .put("block_size", BLOCK)
        .put("dp_rank", 0);
  }

  private static List<String> services(Api api) {
    return api.get("/services").path("services").findParents("Endpoint").stream()
        .map(
            one ->
                one.path("TenantID").asText()
                    + "/"
                    + one.path("DPRank")
                    + "/"
                    + one.path("LoraName").asText())
        .toList();
  }

  private void publish(PayloadPublisher engine, int rank, List<@Nullable Object> event)
      throws IOException {
    List<Object> batch = List.of(1_760_000_000.5 + next, List.of(event), rank);
    engine.publish(next++, WirePublisher.payload(batch));
  }

  /** The first blocks of the prompt; an adapter's have hashes of their own. */
  private static List<@Nullable Object> stored(int blocks, @Nullable String lora) {
    List<Long> hashes =
        IntStream.rangeClosed(1, blocks).mapToObj(i -> (lora == null ? 100L : 200L) + i).toList();
    List<Integer> tokens = Arrays.stream(PROMPT, 0, BLOCK * blocks).boxed().toList();
    return Arrays.asList("BlockStored", hashes, null, tokens, BLOCK, null, "GPU", lora);
  }

  private static String row(int longest, int gpu, String ranks) {
    return "{\"e\":{\"longest_matched\":"
        + longest
        + ",\"GPU\":"
        + gpu
        + ",\"DP\":{"
        + ranks
        + "},\"CPU\":0,\"DISK\":0}}";
  }

  private static void awaitRows(Api api, String tenant, @Nullable String lora, String rows) {
    await()
        .atMost(WITHIN)
        .untilAsserted(
            () -> assertThat(api.query(tenant, PROMPT, lora, BLOCK).toString()).isEqualTo(rows));
  }
}
