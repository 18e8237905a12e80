// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.query.packed.Packed;
import io.kvindex.query.parse.BodyType;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is refused before its body is read, in the words of whoever asked. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnreadRefusalsTest {
  private static final int MAX_BODY = 1_024;
  private static final String MSGPACK = "application/msgpack";
  private static final String EMPTY_QUERY = "{\"model\":\"m\",\"token_ids\":[]}";

  private final HttpClient client = HttpClient.newHttpClient();
  private final CountDownLatch entered = new CountDownLatch(2);
  private final CountDownLatch gate = new CountDownLatch(1);
  private HttpServer server;

  @BeforeAll
  void start() {
    HttpSettings settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            MAX_BODY,
            100,
            1,
            1,
            16,
            Duration.ofSeconds(20),
            1,
            Duration.ofMillis(100));
    server =
        HttpServer.start(
            settings,
            (form, query, reply) -> {
              if (query.model().equals("wait")) {
                await();
              }
              reply.body().raw('{').raw('}');
            },
            routes -> {
              routes.get("/health", ctx -> ctx.result("{}"));
              routes.get("/both", ctx -> ctx.result("{}"));
              routes.post("/both", ctx -> ctx.result("{}"));
              routes.post("/register", ctx -> await());
              routes.post(
                  "/register_peer", ctx -> BodyType.requireJson(ctx.contentType(), ctx.path()));
            },
            new SimpleMeterRegistry());
  }

  private void await() {
    entered.countDown();
    try {
      gate.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterAll
  void stop() {
    gate.countDown();
    server.close();
  }

  @ParameterizedTest
  @CsvSource({
    "DELETE,/health,Accept,application/json,GET",
    "POST,/health,Accept,text/html,GET",
    "PUT,/both,Accept,*/*,'GET, POST'",
    "DELETE,/both,Accept,application/msgpack,'GET, POST'",
    "PUT,/both,Content-Type,application/x-msgpack,'GET, POST'",
    "GET,/query,Accept,application/json,POST",
    "DELETE,/query_batch,Accept,application/msgpack,POST",
    "PUT,/query_tiered_by_hash,Content-Type,application/json,POST",
  })
  void shouldNameTheMethods_whenItIsAnother(
      String method, String path, String header, String type, String allowed) throws Exception {
    HttpResponse<byte[]> answer =
        send(request(path).header(header, type).method(method, BodyPublishers.noBody()));
    refused(answer, type, 405, "method_not_allowed");
    assertThat(answer.headers().allValues("Allow")).containsExactly(allowed);
    assertThat(body(answer).path("error").asText())
        .isEqualTo(method + " " + path + ": use " + allowed);
  }

  @ParameterizedTest
  @CsvSource({
    "/query,application/json",
    "/query,application/msgpack",
    "/query?model_name=m,application/octet-stream",
    "/query_batch,application/json",
    "/query_tiered_by_hash,application/json",
    "/register,application/json",
    "/register,application/x-msgpack",
    "/register_peer,application/json",
    "/nothing,application/msgpack",
  })
  void shouldSayBodyTooLarge_whenItIsAnnouncedSo(String path, String type) throws Exception {
    refused(post(path, type, new byte[MAX_BODY + 1]), type, 413, "body_too_large");
  }

  @ParameterizedTest
  @CsvSource({
    "POST,/nothing,Content-Type,application/json",
    "POST,/nothing,Content-Type,application/msgpack",
    "GET,/nothing,Accept,application/json",
    "GET,/query/,Accept,application/msgpack",
  })
  void shouldSayNotFound_whenNobodyServesThePath(
      String method, String path, String header, String type) throws Exception {
    refused(
        send(request(path).header(header, type).method(method, BodyPublishers.noBody())),
        type,
        404,
        "not_found");
  }

  @ParameterizedTest
  @CsvSource({
    "/query_batch,application/msgpack",
    "/query_batch,application/octet-stream",
    "/register_peer,application/msgpack",
    "/register_peer,application/octet-stream",
  })
  void shouldSayUnsupported_whenAJsonRouteGetsAnotherType(String path, String type)
      throws Exception {
    refused(post(path, type, new byte[] {(byte) 0x80}), type, 415, "unsupported_content_type");
  }

  @Test
  void shouldReadOnAsJson_whenTheTypeIsOneOfNobody() throws Exception {
    for (String type : new String[] {"application/x-www-form-urlencoded", "text/plain"}) {
      byte[] empty = "{\"queries\":[]}".getBytes(StandardCharsets.US_ASCII);
      assertThat(post("/query_batch", type, empty).statusCode()).isEqualTo(200);
      assertThat(post("/register_peer", type, empty).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void shouldSayTryAgain_whenTooManyAreBeingAnswered() throws Exception {
    byte[] waiting = "{\"model\":\"wait\",\"token_ids\":[]}".getBytes(StandardCharsets.US_ASCII);
    CompletableFuture<?> query = client.sendAsync(post("/query", waiting), BodyHandlers.ofString());
    CompletableFuture<?> registration =
        client.sendAsync(post("/register", waiting), BodyHandlers.ofString());
    assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
    for (String path : new String[] {"/query", "/query_tiered_by_hash", "/register"}) {
      for (String type : new String[] {"application/json", MSGPACK}) {
        HttpResponse<byte[]> answer =
            sendNow(
                request(path)
                    .header("Content-Type", type)
                    .POST(BodyPublishers.ofByteArray(new byte[] {'{', '}'})));
        refused(answer, type, 429, "too_many_requests");
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
      }
    }
    gate.countDown();
    CompletableFuture.allOf(query, registration).get(20, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @CsvSource({"/query,application/json", "/query,application/msgpack"})
  void shouldSayInvalidValue_whenTheDeadlineIsNone(String path, String type) throws Exception {
    HttpResponse<byte[]> answer =
        send(
            request(path)
                .header("Content-Type", type)
                .header("X-KvIndex-Deadline-Ms", "soon")
                .POST(BodyPublishers.ofString("{}")));
    refused(answer, type, 400, "invalid_value");
  }

  private static void refused(HttpResponse<byte[]> answer, String type, int status, String reason)
      throws Exception {
    boolean packed = type.contains("msgpack");
    assertThat(answer.headers().allValues("Content-Type"))
        .containsExactly(packed ? MSGPACK : "application/json");
    assertThat(body(answer).path("error").asText()).isNotEmpty();
    assertThat(body(answer).path("reason").asText()).isEqualTo(reason);
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  private static JsonNode body(HttpResponse<byte[]> answer) throws Exception {
    boolean packed = answer.headers().firstValue("Content-Type").orElse("").equals(MSGPACK);
    return new ObjectMapper()
        .readTree(
            packed
                ? Packed.json(answer.body())
                : new String(answer.body(), StandardCharsets.UTF_8));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private HttpRequest post(String path, byte[] body) {
    return request(path).POST(BodyPublishers.ofByteArray(body)).build();
  }

  private HttpResponse<byte[]> post(String path, String type, byte[] body) throws Exception {
    return send(request(path).header("Content-Type", type).POST(BodyPublishers.ofByteArray(body)));
  }

  /** As soon as the place of the request before, which was answered already, is free. */
  private HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    HttpResponse<byte[]> answer = sendNow(request);
    while (answer.statusCode() == 429 && System.nanoTime() < end) {
      answer = sendNow(request);
    }
    return answer;
  }

  private HttpResponse<byte[]> sendNow(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }
}
