// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.packed.Packed;
import io.kvindex.query.parse.MinEvent;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code min_event} means the same in every dialect and form, over HTTP. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MinEventFormsTest {
  private static final String JSON = "application/json";
  private static final String OCTETS = "application/octet-stream";
  private static final String MSGPACK = "application/msgpack";

  private final HttpClient client = HttpClient.newHttpClient();
  private final Map<String, MinEvent> asked = new ConcurrentHashMap<>();
  private volatile long visible = 41;
  private HttpServer server;

  @BeforeAll
  void start() {
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> {
              if (query.minEvent() != null) {
                asked.put(query.model(), query.minEvent());
              }
              reply.body().raw('{').name(query.dialect() + " " + form).number(query.count());
              reply.body().raw('}');
            },
            new EventVisibility() {
              @Override
              public boolean isVisible(String tenant, MinEvent event) {
                return Long.compareUnsigned(event.eventId(), visible) <= 0;
              }

              @Override
              public String howFar(String tenant, MinEvent event) {
                return "up to 41 of " + tenant;
              }
            },
            ReplicaQuestions.NONE,
            routes -> {},
            RequestObserver.NONE,
            new SimpleMeterRegistry());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private record Form(String path, String type, byte[] body, String answer) {}

  /** The model is the number of the form, so that what was asked in it can be told. */
  private static List<Form> forms(long event) {
    String json =
        "\"tenant_id\":\"t\",\"min_event\":{\"instance_id\":\"i:1\",\"dp_rank\":2,\"event_id\":"
            + Long.toUnsignedString(event)
            + "},";
    String parameters = "&tenant_id=t&min_event=i%3A1:2:" + Long.toUnsignedString(event);
    byte[] eight = new byte[8];
    return List.of(
        json("/query", "{\"model\":\"0\"," + json + "\"token_ids\":[1]}", "CONDUCTOR TOKENS"),
        json(
            "/query_by_hash",
            "{\"model\":\"1\"," + json + "\"seq_hashes\":[1]}",
            "CONDUCTOR HASHES"),
        json("/query", "{\"model_name\":\"2\"," + json + "\"token_ids\":[1]}", "DYNAMO TOKENS"),
        json(
            "/query_by_hash",
            "{\"model_name\":\"3\"," + json + "\"block_hashes\":[1]}",
            "DYNAMO HASHES"),
        json(
            "/query_tiered_by_hash",
            "{\"model_name\":\"4\"," + json + "\"block_hashes\":[1]}",
            "DYNAMO TIERED"),
        new Form("/query?model=5" + parameters, OCTETS, eight, "CONDUCTOR TOKENS"),
        new Form("/query_by_hash?model=6" + parameters, OCTETS, eight, "CONDUCTOR HASHES"),
        new Form("/query?model_name=7" + parameters, OCTETS, eight, "DYNAMO TOKENS"),
        new Form("/query_by_hash?model_name=8" + parameters, OCTETS, eight, "DYNAMO HASHES"),
        new Form("/query_tiered_by_hash?model_name=9" + parameters, OCTETS, eight, "DYNAMO TIERED"),
        packed("/query", "10", event, "token_ids"),
        packed("/query_by_hash", "11", event, "seq_hashes"));
  }

  private static Form json(String path, String body, String answer) {
    return new Form(path, JSON, body.getBytes(StandardCharsets.UTF_8), answer);
  }

  private static Form packed(String path, String model, long event, String items) {
    byte[] body =
        Packed.map(
            "model",
            model,
            "block_size",
            1,
            "tenant_id",
            "t",
            "min_event",
            Packed.members("event_id", unsigned(event), "instance_id", "i:1", "dp_rank", 2),
            items,
            List.of(1));
    return new Form(path, MSGPACK, body, "BINARY");
  }

  private static BigInteger unsigned(long event) {
    return new BigInteger(Long.toUnsignedString(event));
  }

  /** The last two are 2^63 and 2^64 - 1. */
  @ParameterizedTest
  @ValueSource(longs = {41, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void shouldAnswer_whenTheEventIsVisible(long event) throws Exception {
    visible = event;
    asked.clear();
    for (Form form : forms(event)) {
      HttpResponse<byte[]> answer = send(form).get(20, TimeUnit.SECONDS);
      assertThat(answer.statusCode()).as(form.path() + text(answer)).isEqualTo(200);
      assertThat(text(answer)).contains(form.answer());
    }
    assertThat(asked).hasSize(forms(event).size());
    assertThat(asked.values()).containsOnly(new MinEvent("i:1", 2, event));
  }

  @ParameterizedTest
  @ValueSource(longs = {42, Long.MIN_VALUE})
  void shouldSayHowFarItIs_whenTheEventDoesNotCome(long event) throws Exception {
    visible = 41;
    List<CompletableFuture<HttpResponse<byte[]>>> waiting = new ArrayList<>();
    for (Form form : forms(event)) {
      waiting.add(send(form));
    }
    for (int i = 0; i < waiting.size(); i++) {
      HttpResponse<byte[]> answer = waiting.get(i).get(20, TimeUnit.SECONDS);
      String type = i >= 10 ? MSGPACK : JSON;
      assertThat(answer.statusCode()).as("form %d %s", i, text(answer)).isEqualTo(503);
      assertThat(answer.headers().firstValue("content-type")).hasValue(type);
      assertThat(text(answer))
          .contains("event_not_visible")
          .contains(
              "event " + unsigned(event) + " of i:1 rank 2 is not visible yet: up to 41 of t");
    }
  }

  private static String text(HttpResponse<byte[]> answer) {
    return answer.headers().firstValue("content-type").orElse("").equals(MSGPACK)
        ? Packed.json(answer.body())
        : new String(answer.body(), StandardCharsets.UTF_8);
  }

  private CompletableFuture<HttpResponse<byte[]>> send(Form form) {
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + form.path()))
            .header("Content-Type", form.type())
            .POST(BodyPublishers.ofByteArray(form.body()))
            .build(),
        BodyHandlers.ofByteArray());
  }
}
