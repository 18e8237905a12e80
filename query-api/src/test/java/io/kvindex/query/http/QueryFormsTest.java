// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.parse.MinEvent;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches, deadlines and events to wait for, through real HTTP, on answers made up. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueryFormsTest {
  private static final int MAX_IN_FLIGHT = 8;
  private static final String ASK = "{\"model\":\"m\",\"token_ids\":[1,2,3]}";

  private final HttpClient client = HttpClient.newHttpClient();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final AtomicLong visible = new AtomicLong(-1);
  private final Map<MinEvent, Long> asked = new ConcurrentHashMap<>();
  private HttpServer server;

  @BeforeAll
  void start() {
    HttpSettings settings =
        new HttpSettings(
            "127.0.0.1", 0, 8 << 20, 1 << 20, MAX_IN_FLIGHT, 4, 16, Duration.ofSeconds(20));
    server =
        HttpServer.start(
            settings,
            (form, query, reply) -> {
              if (query.model().equals("bug")) {
                throw new IllegalStateException("secret detail");
              }
              if (query.model().equals("slow")) {
                while (query.deadline().leftNanos() > 0) {
                  Thread.onSpinWait();
                }
              }
              if (query.model().equals("degraded")) {
                reply.trust(Trust.DEGRADED, 9, "e1,e2");
              } else {
                reply.trust(Trust.EXACT, 4, null);
              }
              if (query.model().equals("long")) {
                reply.body().string("x".repeat(1 << 20));
                return;
              }
              reply.body().raw('{').name(query.dialect() + " " + form).number(query.count());
              reply.body().raw('}');
            },
            new EventVisibility() {
              @Override
              public boolean isVisible(String tenant, MinEvent event) {
                if (event.instanceId().equals("kv")) {
                  throw ErrorCode.UNSUPPORTED.because("not of these");
                }
                if (event.instanceId().equals("slow")) {
                  long first = asked.computeIfAbsent(event, e -> System.nanoTime());
                  return System.nanoTime() - first > TimeUnit.MILLISECONDS.toNanos(500);
                }
                return visible.get() >= event.eventId();
              }

              @Override
              public String howFar(String tenant, MinEvent event) {
                return "up to " + visible.get() + " of " + tenant;
              }
            },
            ReplicaQuestions.NONE,
            routes -> {},
            RequestObserver.NONE,
            registry);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void shouldAnswerEachForItself_whenABatchMixesDialectsAndMistakes() throws Exception {
    String body =
        "{\"x\":[{\"queries\":[]}],\"queries\":[ "
            + String.join(
                " , ",
                ASK,
                "{\"model_name\":\"m\",\"block_hashes\":[1]}",
                "{\"model\":\"m\",\"seq_hashes\":[\"]}\",7]}",
                "{\"model\":nope,\"token_ids\":[1]}",
                "{\"model\":\"a \\\" ]} b\",\"x\":{\"seq_hashes\":[1]},\"token_ids\":[1]}",
                "{\"model\":\"m\",\"token_ids\":[1],\"seq_hashes\":[1]}",
                "{\"model\":\"m\",\"token_ids\":[1],\"seq_hashes\":null}",
                "5",
                "{\"model\":\"bug\",\"token_ids\":[]}",
                "{\"model_name\":\"m\"}",
                "{\"model\":\"degraded\",\"token_ids\":[]}")
            + "]}";
    HttpResponse<String> answer = post("/query_batch", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    List<String> parts = parts(answer.body());
    assertThat(parts).hasSize(11);
    assertThat(parts.get(0)).isEqualTo("200,\"body\":{\"CONDUCTOR TOKENS\":3}");
    assertThat(parts.get(1)).isEqualTo("200,\"body\":{\"DYNAMO HASHES\":1}");
    assertThat(parts.get(2)).startsWith("400").contains("\"index\":0");
    assertThat(parts.get(3)).startsWith("400").contains("invalid_json");
    assertThat(parts.get(4)).isEqualTo("200,\"body\":{\"CONDUCTOR TOKENS\":1}");
    assertThat(parts.get(5)).startsWith("400").contains("conflicting_fields");
    assertThat(parts.get(6)).isEqualTo("200,\"body\":{\"CONDUCTOR TOKENS\":1}");
    assertThat(parts.get(7)).startsWith("400").contains("must be a JSON object");
    assertThat(parts.get(8)).startsWith("500").contains("incident").doesNotContain("secret");
    assertThat(parts.get(9)).startsWith("422").contains("missing");
    assertThat(parts.get(10)).startsWith("200");
    assertThat(answer.headers().firstValue("X-KvIndex-State")).hasValue("degraded");
    assertThat(answer.headers().firstValue("X-KvIndex-Lag-Ms")).hasValue("9");
    assertThat(answer.headers().firstValue("X-KvIndex-Degraded")).hasValue("e1,e2");
    assertThat(registry.get("kvindex.query.latency").tag("route", "query_batch").timer().count())
        .isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"queries":[]}                ~ 200 ~ {"answers":[]}
          { }                           ~ 400 ~ missing
          {"queries":null}              ~ 400 ~ missing
          {"queries":{}}                ~ 400 ~ invalid_type
          {"queries":[{]}               ~ 400 ~ invalid_json
          {"queries":[{"a":"b]}         ~ 400 ~ invalid_json
          {"queries":[1,]}              ~ 400 ~ invalid_json
          {"queries":[1 2]}             ~ 400 ~ invalid_json
          {"queries":[]} x              ~ 400 ~ invalid_json
          {"queries":[]                 ~ 400 ~ invalid_json
          [1]                           ~ 400 ~ invalid_json
          ''                            ~ 400 ~ invalid_json
          """)
  void shouldRefuseTheBatch_whenItsFrameIsBad(String body, int status, String text)
      throws Exception {
    HttpResponse<String> answer = post("/query_batch", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).contains(text);
  }

  @Test
  void shouldTake256Queries_whenTheBatchIsFull() throws Exception {
    List<String> queries = new ArrayList<>(Collections.nCopies(256, ASK));
    HttpResponse<String> full = post("/query_batch", batch(queries));
    assertThat(parts(full.body())).hasSize(256).allMatch(part -> part.startsWith("200"));
    queries.add(ASK);
    HttpResponse<String> more = post("/query_batch", batch(queries));
    assertThat(more.statusCode()).isEqualTo(413);
    assertThat(more.body()).contains("too_many_items").contains("\"index\":256");
  }

  @Test
  void shouldRefuseTheRest_whenAnswersGrowTooLong() throws Exception {
    String query = "{\"model\":\"long\",\"token_ids\":[]}";
    HttpResponse<String> answer = post("/query_batch", batch(Collections.nCopies(40, query)));
    assertThat(answer.body().length()).isLessThan(18 << 20);
    assertThat(answer.body()).endsWith("}}]}").contains("\"status\":413");
    assertThat(post("/query", ASK).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldRefuseOtherTypesAndMethods_whenABatchIsAskedFor() throws Exception {
    HttpResponse<String> octets =
        send(
            request("/query_batch")
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofString("")));
    assertThat(octets.statusCode()).isEqualTo(415);
    assertThat(send(request("/query_batch").GET()).statusCode()).isEqualTo(405);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/query", "/query_batch"})
  void shouldAnswer503AndNothingLate_whenTheDeadlineIsPast(String path) throws Exception {
    String slow = ASK.replace("\"m\"", "\"slow\"");
    String body = path.equals("/query") ? slow : batch(List.of(slow, ASK));
    HttpResponse<String> late =
        send(
            request(path)
                .header("X-KvIndex-Deadline-Ms", "40")
                .POST(BodyPublishers.ofString(body)));
    assertThat(late.statusCode()).isEqualTo(503);
    assertThat(late.body()).contains("deadline_exceeded").doesNotContain("TOKENS");
    assertThat(late.headers().firstValue("Retry-After")).hasValue("1");
    HttpResponse<String> none =
        send(
            request(path).header("X-KvIndex-Deadline-Ms", "0").POST(BodyPublishers.ofString(body)));
    assertThat(none.statusCode()).isEqualTo(503);
    HttpResponse<String> inTime =
        send(
            request("/query")
                .header("X-KvIndex-Deadline-Ms", "30000")
                .POST(BodyPublishers.ofString(ASK)));
    assertThat(inTime.statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-1", "1.5", "3600001", "99999999999", "+5", "0x10"})
  void shouldAnswer400_whenTheDeadlineIsNoNumber(String value) throws Exception {
    HttpResponse<String> answer =
        send(
            request("/query")
                .header("X-KvIndex-Deadline-Ms", value)
                .POST(BodyPublishers.ofString(ASK)));
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("invalid_value").contains("X-KvIndex-Deadline-Ms");
  }

  @Test
  void shouldWaitWithoutAThread_whenTheEventIsNotVisibleYet() throws Exception {
    visible.set(6);
    List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
    for (int i = 0; i < MAX_IN_FLIGHT / 2; i++) {
      String body = waitingFor("i", 7);
      waiting.add(
          client.sendAsync(
              request(i == 0 ? "/query_batch" : "/query")
                  .header("X-KvIndex-Deadline-Ms", "20000")
                  .POST(BodyPublishers.ofString(i == 0 ? batch(List.of(ASK, body)) : body))
                  .build(),
              BodyHandlers.ofString()));
    }
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                registry.get("kvindex.http.in.flight").gauge().value() == MAX_IN_FLIGHT / 2
                    && post("/query", waitingFor("i", 7)).statusCode() == 429);
    assertThat(post("/query", ASK).statusCode()).isEqualTo(200);
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    visible.set(7);
    for (CompletableFuture<HttpResponse<String>> one : waiting) {
      HttpResponse<String> answer = one.get(10, TimeUnit.SECONDS);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("{\"CONDUCTOR TOKENS\":3}").doesNotContain("503");
    }
    assertThat(post("/query", waitingFor("i", 7)).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldSayHowFarVisibilityIs_whenTheEventDoesNotCome() throws Exception {
    visible.set(41);
    long start = System.nanoTime();
    HttpResponse<String> answer = post("/query", waitingFor("i", 43));
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body())
        .contains("event_not_visible")
        .contains("event 43 of i rank 0 is not visible yet: up to 41 of default");
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(900));
    List<String> parts =
        parts(post("/query_batch", batch(List.of(waitingFor("i", 43), ASK))).body());
    assertThat(parts.get(0)).startsWith("503");
    assertThat(parts.get(1)).startsWith("200");
    assertThat(post("/query", waitingFor("kv", 43)).body()).contains("unsupported");
  }

  @Test
  void shouldWaitASecondForAllTogether_whenEachQueryOfABatchNamesALateEvent() throws Exception {
    List<String> queries = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      queries.add(waitingFor("slow", i));
    }
    List<String> parts = parts(post("/query_batch", batch(queries)).body());
    assertThat(parts.get(0)).startsWith("200");
    assertThat(parts).anyMatch(part -> part.startsWith("503"));
  }

  private static String waitingFor(String instance, long event) {
    return ASK.replace(
        "{\"model\"",
        "{\"min_event\":{\"instance_id\":\""
            + instance
            + "\",\"event_id\":"
            + event
            + "},\"model\"");
  }

  private static String batch(List<String> queries) {
    return "{\"queries\":[" + String.join(",", queries) + "]}";
  }

  private static List<String> parts(String answer) {
    List<String> parts = new ArrayList<>();
    for (String part : answer.split("\\{\"status\":")) {
      parts.add(part.replaceFirst("}(,|]})$", ""));
    }
    return parts.subList(1, parts.size());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(BodyPublishers.ofString(body)));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
