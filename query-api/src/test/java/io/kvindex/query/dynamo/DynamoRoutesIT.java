// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.QueryApi;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.sandbox.broker.SharedBroker;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What Dynamo's clients see of the routes beside queries and registrations: listing, health,
 * metrics, wrong methods and paths. Source: Dynamo's {@code standalone_indexer}, v1.5, its server's
 * tests.
 */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DynamoRoutesIT {

  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient client = HttpClient.newHttpClient();
  private QueryApi api;
  private String unique;

  @BeforeAll
  void start() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", SharedBroker.bootstrapServers()))) {
      new TopicCheck(admin, TIMEOUT.toMillis())
          .ensure(Topics.all(2, (short) 1, Duration.ofDays(1), -1));
    }
    api =
        QueryApi.start(
            QueryApi.Options.of(
                HttpSettings.DEFAULT.at("127.0.0.1", 0), SharedBroker.bootstrapServers()),
            new BareIndex(),
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
    Awaitility.await().atMost(TIMEOUT).until(() -> send("GET", "/ready", "").statusCode() == 200);
  }

  @AfterAll
  void stop() {
    api.close();
  }

  @BeforeEach
  void freshNames() {
    unique = SharedBroker.unique("d");
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + api.port() + path);
    return client.send(
        HttpRequest.newBuilder(uri).method(method, BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  private void register(int id, String model, String group, int blockSize) throws Exception {
    HttpResponse<String> answer =
        send(
            "POST",
            "/register",
            "{\"instance_id\":%d,\"endpoint\":\"tcp://127.0.0.1:5557\",\"model_name\":\"%s-%s\",\"routing_group\":\"%s-%s\",\"block_size\":%d}"
                .formatted(id, unique, model, unique, group, blockSize));
    assertThat(answer.body()).isEqualTo("{\"status\":\"ok\"}");
    assertThat(answer.statusCode()).isEqualTo(201);
  }

  /** This test's workers among those a listing has. */
  private List<JsonNode> workers(String filter) throws Exception {
    HttpResponse<String> answer = send("GET", "/workers" + filter.replace("=", "=" + unique), "");
    assertThat(answer.statusCode()).isEqualTo(200);
    return StreamSupport.stream(JSON.readTree(answer.body()).spliterator(), false)
        .filter(one -> one.path("model_name").asText().startsWith(unique))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "'', 2",
    "?routing_group=-acme, 1",
    "?model_name=-llama3, 1",
    "?model_name=-mistral&routing_group=-other, 1",
    "?model_name=-mistral&routing_group=-acme, 0",
    "?model_name=-unknown, 0",
    "?tenant_id=-acme, 2",
  })
  void shouldListTheWorkers_ofModelAndGroup(String filter, int workers) throws Exception {
    register(20, "llama3", "acme", 4);
    register(21, "mistral", "other", 8);
    assertThat(workers(filter)).hasSize(workers);
  }

  @Test
  void shouldHaveEveryMemberOfTheirs_whenAWorkerIsListed() throws Exception {
    register(1, "llama", "default", 16);
    JsonNode worker = workers("").get(0);
    JsonNode theirs =
        JSON.readTree(
            """
            {"instance_id":1,"source":"zmq","status":"pending","model_name":"%s-llama",
             "routing_group":"%s-default","block_size":16,
             "endpoints":{"0":"tcp://127.0.0.1:5557"}}"""
                .formatted(unique, unique));
    for (Map.Entry<String, JsonNode> member : theirs.properties()) {
      assertThat(worker.path(member.getKey())).as(member.getKey()).isEqualTo(member.getValue());
    }
    JsonNode listener = worker.path("listeners").path("0");
    assertThat(listener.path("endpoint").asText()).isEqualTo("tcp://127.0.0.1:5557");
    assertThat(listener.path("status").asText()).isEqualTo("pending");
    assertThat(listener.has("last_error")).isFalse();
  }

  @Test
  void shouldCountModelsWorkersAndListeners_whenMetricsAreScraped() throws Exception {
    double models = metric("dynamo_kvindexer_models");
    double workers = metric("dynamo_kvindexer_workers");
    double pending = metric("dynamo_kvindexer_listeners{status=\"pending\"}");
    register(30, "llama3", "acme", 4);
    register(31, "llama3", "acme", 4);
    assertThat(metric("dynamo_kvindexer_models")).isEqualTo(models + 1);
    assertThat(metric("dynamo_kvindexer_workers")).isEqualTo(workers + 2);
    assertThat(metric("dynamo_kvindexer_listeners{status=\"pending\"}")).isEqualTo(pending + 2);
    assertThat(metric("dynamo_kvindexer_listeners{status=\"paused\"}")).isZero();
    assertThat(metric("dynamo_kvindexer_requests_total{endpoint=\"/register\",method=\"POST\"}"))
        .isGreaterThanOrEqualTo(2);
  }

  @Test
  void shouldCountRequestsByPath_whateverIsServed() throws Exception {
    for (String path : List.of("/cluster", "/digests")) {
      send("GET", path, "");
      String count = "dynamo_kvindexer_requests_total{endpoint=\"%s\",method=\"GET\"}";
      Awaitility.await()
          .atMost(TIMEOUT)
          .untilAsserted(() -> assertThat(metric(count.formatted(path))).isEqualTo(1));
    }
  }

  private double metric(String name) throws Exception {
    return send("GET", "/metrics", "")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findAny()
        .orElseThrow(() -> new AssertionError("no metric " + name));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          GET    ~ /health               ~ 200 ~ {"status":"up"}
          GET    ~ /peers                ~ 200 ~ []
          POST   ~ /reopen_logs          ~ 200 ~ {"status":"ok"}
          POST   ~ /deregister_peer      ~ 404 ~ peer not found
          GET    ~ /register             ~ 405 ~ method_not_allowed
          GET    ~ /unregister           ~ 405 ~ method_not_allowed
          POST   ~ /workers              ~ 405 ~ method_not_allowed
          GET    ~ /query_tiered_by_hash ~ 405 ~ method_not_allowed
          POST   ~ /dump                 ~ 405 ~ method_not_allowed
          GET    ~ /register_peer        ~ 405 ~ method_not_allowed
          GET    ~ /deregister_peer      ~ 405 ~ method_not_allowed
          POST   ~ /peers                ~ 405 ~ method_not_allowed
          POST   ~ /health               ~ 405 ~ method_not_allowed
          GET    ~ /reopen_logs          ~ 405 ~ method_not_allowed
          POST   ~ /test/pause_listener  ~ 404 ~ not_found
          POST   ~ /test/resume_listener ~ 404 ~ not_found
          GET    ~ /nothing              ~ 404 ~ not_found
          """)
  void shouldAnswer_whenARouteIsAskedFor(String method, String path, int status, String text)
      throws Exception {
    // Where nobody reads a body Jetty may close the connection behind the answer, and this client
    // does not send a POST again that found it closed.
    String body = path.equals("/deregister_peer") ? "{\"url\":\"http://127.0.0.1:1\"}" : "";
    HttpResponse<String> answer = send(method, path, body);
    assertThat(answer.body()).contains(text);
    assertThat(answer.statusCode()).isEqualTo(status);
  }
}
