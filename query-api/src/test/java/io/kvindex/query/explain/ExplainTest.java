// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.packed.Packed;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** {@code POST /explain} over HTTP: its forms, its refusals, and how far to trust it. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExplainTest {
  private static final TableId SMALL = TwoTables.table(2, HashProfile.XXH3_DEFAULT);
  private static final TableId LARGE = TwoTables.table(4, HashProfile.XXH3_DEFAULT);
  private static final int[] PROMPT = {1, 2, 3, 4, 5, 6, 7, 8};
  private static final String TOKENS = "\"token_ids\":[1,2,3,4,5,6,7,8]}";

  private final HttpClient client = HttpClient.newHttpClient();
  private final TwoTables server = new TwoTables(SMALL, LARGE);

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void shouldSayHowFarToTrustIt_whenTablesDiffer() throws Exception {
    server.in(SMALL).lagMs = 7;
    server.in(LARGE).lagMs = 9;
    assertThat(headers("{\"model\":\"m\",\"block_size\":2," + TOKENS)).isEqualTo("exact 7 []");
    assertThat(headers("{\"model\":\"m\"," + TOKENS)).isEqualTo("exact 9 []");
    server.in(LARGE).degraded = Set.of(new PublisherId("e2", "default", 0));
    assertThat(headers("{\"model\":\"m\"," + TOKENS)).isEqualTo("degraded 9 [e2]");
    server.in(SMALL).trust = Trust.STALE;
    assertThat(headers("{\"model\":\"m\"," + TOKENS)).isEqualTo("stale 9 [e2]");
    assertThat(headers("{\"model\":\"m\",\"block_size\":4," + TOKENS)).isEqualTo("degraded 9 [e2]");
    server.in(LARGE).degraded = Set.of();
    server.in(SMALL).trust = Trust.EXACT;
    assertThat(headers("{\"model\":\"other\"," + TOKENS)).isEqualTo("exact 0 []");
  }

  @Test
  void shouldExplainTheSame_whateverTheForm() throws Exception {
    server.in(SMALL).store("e1/0/GPU", 0, PROMPT, 2, 0, 1, 2);
    JsonNode json = tables(explain("application/json", "", "{\"model\":\"m\"," + TOKENS));
    assertThat(json.at("/0/instances/0/matched_tokens").asInt()).isEqualTo(6);
    assertThat(json.at("/0/instances/0/ended").asText()).isEqualTo("held_by_nobody");
    assertThat(json).hasSize(2);
    assertThat(tables(explain("application/json", "", "{\"model_name\":\"m\"," + TOKENS)))
        .isEqualTo(json);
    ByteBuffer octets = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
    octets.asIntBuffer().put(PROMPT);
    assertThat(tables(send("application/octet-stream", "?model=m", octets.array())))
        .isEqualTo(json);
    byte[] packed = Packed.map("model", "m", "block_size", 2, "token_ids", PROMPT);
    assertThat(tables(send("application/msgpack", "", packed)).get(0)).isEqualTo(json.get(0));
  }

  @Test
  void shouldRefuseAsAQueryIs_whenTheRequestIsBad() throws Exception {
    HttpResponse<String> missing = explain("application/json", "", "{\"model_name\":\"m\"}");
    assertThat(missing.statusCode()).isEqualTo(422);
    assertThat(missing.body()).contains("\"field\":\"token_ids\"");
    HttpResponse<String> binary = explain("application/msgpack", "", "x");
    assertThat(binary.statusCode()).isEqualTo(400);
    assertThat(binary.headers().firstValue("content-type")).hasValue("application/msgpack");
    HttpResponse<String> get =
        client.send(
            HttpRequest.newBuilder(server.uri("/explain")).build(), BodyHandlers.ofString());
    assertThat(get.statusCode()).isEqualTo(405);
    assertThat(get.headers().firstValue("Allow")).hasValue("POST");
  }

  private String headers(String body) throws Exception {
    HttpResponse<String> answer = explain("application/json", "", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.headers().firstValue("X-KvIndex-State").orElse("none")
        + " "
        + answer.headers().firstValue("X-KvIndex-Lag-Ms").orElse("none")
        + " "
        + answer.headers().allValues("X-KvIndex-Degraded");
  }

  private static JsonNode tables(HttpResponse<String> answer) throws Exception {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    return new ObjectMapper().readTree(answer.body()).path("tables");
  }

  private HttpResponse<String> explain(String type, String parameters, String body)
      throws Exception {
    return send(type, parameters, body.getBytes(StandardCharsets.UTF_8));
  }

  private HttpResponse<String> send(String type, String parameters, byte[] body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(server.uri("/explain" + parameters))
            .header("Content-Type", type)
            .POST(BodyPublishers.ofByteArray(body))
            .build(),
        BodyHandlers.ofString());
  }
}
