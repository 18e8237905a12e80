// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.packed.Packed;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every refusal of a MessagePack request is a MessagePack map, wherever it comes from. */
class BinaryErrorsTest extends BinaryFixture {
  private static final String TYPE = "application/msgpack";

  @Override
  protected HttpSettings settings() {
    return new HttpSettings("127.0.0.1", 0, 4_096, 8, 4, 1, 16, Duration.ofSeconds(30));
  }

  private static void isRefusal(HttpResponse<byte[]> answer, int status, String json) {
    assertThat(answer.headers().firstValue("content-type")).contains(TYPE);
    assertThat(Packed.json(answer.body())).isEqualTo(json);
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  @Test
  void shouldNameFieldAndIndex_whenOneElementIsToBlame() throws Exception {
    isRefusal(
        query("token_ids", List.of(1, 1L << 31)),
        400,
        "{\"error\":\"`token_ids[1]` must be an int32, got 2147483648\",\"reason\":\"out_of_range\",\"field\":\"token_ids\",\"index\":1}");
    isRefusal(
        query("token_ids", Arrays.asList(1, null)),
        400,
        "{\"error\":\"`token_ids[1]` must be an int32, got nil\",\"reason\":\"invalid_type\",\"field\":\"token_ids\",\"index\":1}");
  }

  @Test
  void shouldNameTheField_whenItIsUnknownOrMissing() throws Exception {
    isRefusal(
        query("token_ids", List.of(), "lora_id", -1),
        400,
        "{\"error\":\"unknown field `lora_id`\",\"reason\":\"unknown_field\",\"field\":\"lora_id\"}");
    isRefusal(
        query(),
        400,
        "{\"error\":\"`token_ids` is missing\",\"reason\":\"missing\",\"field\":\"token_ids\"}");
  }

  @Test
  void shouldSayInvalidMsgpack_whenTheBodyIsNone() throws Exception {
    String malformed = "{\"error\":\"Invalid msgpack object\",\"reason\":\"invalid_msgpack\"}";
    isRefusal(post("/query", new byte[] {(byte) 0xC1}), 400, malformed);
    isRefusal(post("/query", new byte[] {(byte) 0x81, 1}), 400, malformed);
    isRefusal(
        post("/query", Packed.of(List.of())),
        400,
        "{\"error\":\"request body must be a msgpack map\",\"reason\":\"invalid_msgpack\"}");
  }

  @Test
  void shouldSayTooMany_whenABodyIsBeyondTheLimits() throws Exception {
    HttpResponse<byte[]> items = query("token_ids", new int[9]);
    assertThat(items.statusCode()).isEqualTo(413);
    assertThat(Packed.json(items.body())).contains("\"reason\":\"too_many_items\"");
    isRefusal(
        post("/query", new byte[4_097]),
        413,
        "{\"error\":\"the request body is longer than 4096 bytes\",\"reason\":\"body_too_large\"}");
    isRefusal(
        post("/register", new byte[4_097]),
        413,
        "{\"error\":\"the request body is longer than 4096 bytes\",\"reason\":\"body_too_large\"}");
  }

  @Test
  void shouldSayMethodNotAllowed_whenAQueryIsNoPost() throws Exception {
    HttpResponse<byte[]> get = send("GET", "/query", BodyPublishers.noBody(), TYPE);
    isRefusal(get, 405, "{\"error\":\"GET /query: use POST\",\"reason\":\"method_not_allowed\"}");
    assertThat(get.headers().firstValue("allow")).contains("POST");
    isRefusal(
        send("PUT", "/query", BodyPublishers.ofByteArray(new byte[1]), TYPE),
        405,
        "{\"error\":\"PUT /query: use POST\",\"reason\":\"method_not_allowed\"}");
  }

  @Test
  void shouldSayNotFound_whenNobodyServesThePath() throws Exception {
    isRefusal(
        post("/nothing", new byte[] {(byte) 0x80}),
        404,
        "{\"error\":\"no such path: POST /nothing\",\"reason\":\"not_found\"}");
    isRefusal(
        send("GET", "/nothing", BodyPublishers.noBody(), TYPE),
        404,
        "{\"error\":\"no such path: GET /nothing\",\"reason\":\"not_found\"}");
    assertThat(Packed.json(post("/query_tiered_by_hash", new byte[] {(byte) 0x80}).body()))
        .contains("\"reason\":\"not_found\"");
  }

  @Test
  void shouldSayNotReady_whenTheIndexIsBeingRestored() throws Exception {
    register("e0", 0);
    index.readable = false;
    HttpResponse<byte[]> answer = query("token_ids", List.of());
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(Packed.json(answer.body())).contains("\"reason\":\"not_ready\"");
  }

  @Test
  void shouldReadJson_whenTheContentTypeDoesNotSayMsgpack() throws Exception {
    // What was meant for a msgpack server cannot be told from any other body: it is read as JSON.
    HttpResponse<byte[]> answer =
        send(
            "POST",
            "/query",
            BodyPublishers.ofByteArray(Packed.map("model", "m")),
            "application/octets");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(new String(answer.body(), java.nio.charset.StandardCharsets.UTF_8))
        .contains("\"reason\":\"invalid_json\"");
  }
}
