// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client that knows what the engine sent sees it in the very next answer; and is told why not.
 */
@Tag("broker")
class OwnWritesIT {
  private static final long SEED = TestSeed.of(OwnWritesIT.class);
  private static final int ROUNDS = 200;

  @TempDir private Path directory;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  @Timeout(180)
  void shouldShowTheEvent_whenTheQueryAsksForIt() throws Exception {
    Random random = new Random(SEED);
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        SimulatedEngine engine = EngineOptions.vllm("e-1").gpuBlocks(4_000).start()) {
      Api api = new Api(server.uri());
      api.register(engine, "default");
      int blockSize = engine.options().blockSize();
      int[] tokens = {};
      awaitFirstEvent(api, engine);
      for (int round = 0; round < ROUNDS; round++) {
        tokens = random.ints(4L * blockSize, 0, 100_000).toArray();
        engine.prefill(tokens, null, null);
        engine.flush();
        HttpResponse<String> answer =
            round % 2 == 0
                ? json(server.uri(), tokens, engine.lastSequence())
                : octets(server.uri(), tokens, engine.lastSequence());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(Api.JSON.readTree(answer.body()).at("/default/e-1/GPU").asInt())
            .as("round %d", round)
            .isEqualTo(tokens.length);
      }
      HttpResponse<String> future = json(server.uri(), tokens, engine.lastSequence() + 1);
      assertThat(future.statusCode()).isEqualTo(503);
      assertThat(future.headers().firstValue("Retry-After")).hasValue("1");
      assertThat(future.body())
          .contains("event " + engine.lastSequence() + " is the newest one visible");
      assertExplained(api, tokens, engine);
    }
  }

  /** Who asks before the bridge has found the engine is told so, and waits. */
  private static void awaitFirstEvent(Api api, SimulatedEngine engine) {
    engine.prefill(new int[engine.options().blockSize()], null, null);
    engine.flush();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> api.visible(engine.options().name()) == engine.lastSequence());
  }

  private static void assertExplained(Api api, int[] tokens, SimulatedEngine engine) {
    int[] longer = java.util.Arrays.copyOf(tokens, tokens.length + engine.options().blockSize());
    ObjectNode body = body(longer, engine.lastSequence());
    JsonNode answer = api.post("/explain", body);
    assertThat(answer.at("/query/dialect").asText()).isEqualTo("conductor");
    assertThat(answer.at("/query/min_event/visible").asBoolean()).isTrue();
    JsonNode table = answer.at("/tables/0");
    assertThat(table.path("hash_profile").asText()).contains("xxh3");
    assertThat(table.path("partition").isInt()).isTrue();
    assertThat(table.path("blocks").asInt()).isEqualTo(5);
    JsonNode row = table.at("/instances/0");
    assertThat(row.path("matched_blocks").asInt()).isEqualTo(4);
    assertThat(row.path("ended").asText()).isEqualTo("held_by_nobody");
    assertThat(row.path("runs")).hasToString("[{\"from\":0,\"to\":4,\"media\":[\"GPU\"]}]");
    JsonNode source = row.at("/sources/0");
    assertThat(source.path("state").asText()).isEqualTo("active");
    assertThat(source.path("visible_event_id").asLong()).isEqualTo(engine.lastSequence());
    assertThat(source.at("/incarnation/life").isNumber()).isTrue();
    assertThat(source.path("last_event_age_ms").asLong()).isBetween(0L, 60_000L);
    assertThat(answer.at("/timing_us/total").asLong()).isPositive();
    body.put("model_name", body.remove("model").asText());
    JsonNode dynamo = api.post("/explain", body);
    assertThat(dynamo.at("/query/dialect").asText()).isEqualTo("dynamo");
    assertThat(dynamo.at("/tables/0/instances/0/runs")).isEqualTo(row.path("runs"));
  }

  private static ObjectNode body(int[] tokens, long event) {
    ObjectNode body = Api.JSON.createObjectNode().put("model", Api.MODEL);
    body.putObject("min_event").put("instance_id", "e-1").put("event_id", event);
    var ids = body.putArray("token_ids");
    for (int token : tokens) {
      ids.add(token);
    }
    return body;
  }

  private HttpResponse<String> json(URI server, int[] tokens, long event) throws Exception {
    return http.send(
        HttpRequest.newBuilder(server.resolve("/query"))
            .POST(BodyPublishers.ofString(body(tokens, event).toString()))
            .build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> octets(URI server, int[] tokens, long event) throws Exception {
    ByteBuffer octets = ByteBuffer.allocate(4 * tokens.length).order(ByteOrder.LITTLE_ENDIAN);
    octets.asIntBuffer().put(tokens);
    return http.send(
        HttpRequest.newBuilder(
                server.resolve("/query?model=" + Api.MODEL + "&min_event=e-1:0:" + event))
            .header("Content-Type", "application/octet-stream")
            .POST(BodyPublishers.ofByteArray(octets.array()))
            .build(),
        BodyHandlers.ofString());
  }
}
