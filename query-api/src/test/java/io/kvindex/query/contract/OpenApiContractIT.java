// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.QueryApi;
import io.kvindex.query.Replica;
import io.kvindex.query.contract.ContractExamples.Example;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.packed.Packed;
import io.kvindex.query.quarantine.FrameReader;
import io.kvindex.sandbox.broker.SharedBroker;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** The file against the running API: all it says is so, and it says all there is. */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OpenApiContractIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MSGPACK = "application/msgpack";
  private static final Set<String> OF_THE_CONTRACT = Set.of("retry-after", "allow");

  private final HttpClient client = HttpClient.newHttpClient();
  private final OpenApiFile file = OpenApiFile.load();
  private final List<Example> examples = new ContractExamples(file).all();
  private QueryApi api;

  @BeforeAll
  void start() throws Exception {
    try (Admin admin = Admin.create(ContractWorld.KAFKA)) {
      new TopicCheck(admin, TIMEOUT.toMillis())
          .ensure(Topics.all(2, (short) 1, Duration.ofDays(1), -1));
    }
    int[] tokens = JSON.convertValue(body("/query", "hit").path("token_ids"), int[].class);
    JsonNode hashes = body("/query_by_hash", "dynamo").path("block_hashes");
    long[] locals = {hashes.get(0).longValue(), hashes.get(1).longValue()};
    ContractWorld world = new ContractWorld(tokens, locals);
    api =
        QueryApi.start(
            QueryApi.Options.of(
                HttpSettings.DEFAULT.at("127.0.0.1", 0), SharedBroker.bootstrapServers()),
            new Replica(world, ReplicaQuestions.NONE, this::twoReplicas, null),
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
            FrameReader.NONE);
    Awaitility.await().atMost(TIMEOUT).until(() -> get("/ready").statusCode() == 200);
    send(example("/register", "vllm"));
    world.hear(ContractWorld.generation(read(get("/services"))));
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(() -> read(get("/workers?model_name=qwen2.5-7b")).toString().contains("last_error"));
  }

  /** As the file has it: what a real one says is held where there are several replicas. */
  private ObjectNode twoReplicas() {
    String example =
        "/paths/~1cluster/get/responses/200/content/application~1json/examples/two/value";
    return file.root.at(example).deepCopy();
  }

  @AfterAll
  void stop() {
    api.close();
  }

  private JsonNode body(String path, String name) {
    return Objects.requireNonNull(example(path, name).body());
  }

  private Example example(String path, String name) {
    return examples.stream()
        .filter(one -> one.operation().path().equals(path) && one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Order(1)
  void shouldHaveTheRoutesOfTheServer_whenTheFileIsRead() {
    SortedMap<String, SortedSet<String>> told = new TreeMap<>();
    for (OpenApiFile.Operation one : file.operations()) {
      told.computeIfAbsent(one.path(), path -> new TreeSet<>()).add(one.method());
    }
    assertThat(told).isEqualTo(api.routes());
  }

  @TestFactory
  @Order(2)
  Stream<DynamicTest> shouldAnswerAsTheFileSays_whenAskedAsItSays() {
    assertThat(examples).hasSizeGreaterThan(80);
    return examples.stream().map(one -> DynamicTest.dynamicTest(one.toString(), () -> holds(one)));
  }

  @Test
  @Order(3)
  void shouldHaveAnExampleOfEachOperation_whenItCanBeAsked() {
    Set<String> asked = new TreeSet<>();
    examples.forEach(one -> asked.add(one.operation().pointer()));
    assertThat(file.operations())
        .extracting(OpenApiFile.Operation::pointer)
        .containsExactlyInAnyOrderElementsOf(asked);
  }

  @Test
  @Order(4)
  void shouldNameTheMethodsOfTheFile_whenAskedByAnother() throws Exception {
    for (Map.Entry<String, JsonNode> path : file.root.path("paths").properties()) {
      Set<String> there = new TreeSet<>();
      path.getValue().fieldNames().forEachRemaining(name -> there.add(name.toUpperCase()));
      for (String method : List.of("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")) {
        if (!there.contains(method)) {
          URI uri = uri(path.getKey().replace("{file}", "start.js"));
          HttpResponse<byte[]> answer =
              send(HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()));
          conforms(method + ' ' + uri, answer, 405, "/components/responses/MethodNotAllowed");
          assertThat(answer.headers().firstValue("Allow")).hasValue(String.join(", ", there));
        }
      }
    }
    conforms("/nothing", get("/nothing"), 404, "/components/responses/NotFound");
  }

  private void holds(Example example) throws Exception {
    HttpResponse<byte[]> answer = send(example);
    String what = example + ": " + text(answer);
    JsonNode body = conforms(what, answer, example.status(), example.response());
    assertThat(mediaType(answer)).as(what).isEqualTo(example.answerType());
    JsonNode expected = example.answer().path("value");
    if (body.isTextual()) {
      assertThat(body.textValue()).as(what).contains(expected.textValue().lines().toList().get(0));
    } else if (example.answer().path("x-varies").asBoolean()) {
      assertThat(resembles(expected, body)).as(what).isTrue();
    } else {
      assertThat(body).as(what).isEqualTo(expected);
    }
    if (example.status() < 300 && example.body() != null) {
      String schema =
          example.operation().pointer()
              + "/requestBody/content/"
              + OpenApiFile.escaped(Objects.requireNonNull(example.bodyType()))
              + "/schema";
      assertThat(file.problems(schema, example.body())).as(what).isEmpty();
    }
  }

  /** Status, type, headers and body are of that response; returns the body. */
  private JsonNode conforms(String what, HttpResponse<byte[]> answer, int status, String response)
      throws Exception {
    assertThat(answer.statusCode()).as(what).isEqualTo(status);
    JsonNode declared = file.root.at(response);
    assertThat(declared.path("content").has(mediaType(answer))).as(what).isTrue();
    JsonNode body = read(answer);
    String content = response + "/content/" + OpenApiFile.escaped(mediaType(answer));
    assertThat(file.problems(content + "/schema", body)).as(what).isEmpty();
    headers(what, answer, response + "/headers");
    return body;
  }

  private void headers(String what, HttpResponse<byte[]> answer, String pointer) {
    Set<String> undeclared = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (String name : answer.headers().map().keySet()) {
      if (name.startsWith("x-kvindex-") || OF_THE_CONTRACT.contains(name)) {
        undeclared.add(name);
      }
    }
    file.root
        .at(pointer)
        .fieldNames()
        .forEachRemaining(
            name -> {
              String header = file.followed(pointer + '/' + name);
              String value = answer.headers().firstValue(name).orElse(null);
              if (value != null) {
                assertThat(file.problems(header + "/schema", scalar(value)))
                    .as(what + ' ' + name)
                    .isEmpty();
              }
              boolean required = file.root.at(header).path("required").asBoolean();
              assertThat(value != null || !required).as(what + ' ' + name).isTrue();
              undeclared.remove(name);
            });
    assertThat(undeclared).as(what).isEmpty();
  }

  private static JsonNode scalar(String value) {
    try {
      return JSON.readTree(value);
    } catch (JsonProcessingException e) {
      return TextNode.valueOf(value);
    }
  }

  /** Has what the example has, where values may be others of their type. */
  private static boolean resembles(JsonNode example, JsonNode actual) {
    if (example.isObject()) {
      return actual.isObject()
          && example.properties().stream()
              .allMatch(one -> resembles(one.getValue(), actual.path(one.getKey())));
    } else if (example.isArray()) {
      return actual.isArray()
          && example
              .valueStream()
              .allMatch(one -> actual.valueStream().anyMatch(it -> resembles(one, it)));
    }
    return example.getNodeType() == actual.getNodeType();
  }

  private HttpResponse<byte[]> send(Example example) throws Exception {
    Map<String, Map<String, String>> parameters = example.parameters();
    String path = example.operation().path();
    for (Map.Entry<String, String> one : parameters.getOrDefault("path", Map.of()).entrySet()) {
      path = path.replace('{' + one.getKey() + '}', one.getValue());
    }
    List<String> query = new ArrayList<>();
    parameters
        .getOrDefault("query", Map.of())
        .forEach((name, value) -> query.add(name + '=' + encoded(value)));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(query.isEmpty() ? path : path + '?' + String.join("&", query)));
    parameters.getOrDefault("header", Map.of()).forEach(request::header);
    String type = example.bodyType();
    BodyPublisher body = BodyPublishers.noBody();
    if (type == null) {
      request.header("Accept", example.answerType());
    } else {
      request.header("Content-Type", type);
      body = BodyPublishers.ofByteArray(encoded(type, Objects.requireNonNull(example.body())));
    }
    return send(request.method(example.operation().method(), body));
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  private static byte[] encoded(String type, JsonNode body) throws IOException {
    return switch (type) {
      case MSGPACK -> Packed.of(JSON.convertValue(body, Object.class));
      case "application/octet-stream" -> body.binaryValue();
      default -> JSON.writeValueAsBytes(body);
    };
  }

  private HttpResponse<byte[]> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + api.port() + path);
  }

  private static String mediaType(HttpResponse<byte[]> answer) {
    return answer.headers().firstValue("Content-Type").orElse("").replaceFirst(";.*", "");
  }

  private static JsonNode read(HttpResponse<byte[]> answer) throws IOException {
    return switch (mediaType(answer)) {
      case "application/json" -> JSON.readTree(answer.body());
      case MSGPACK -> JSON.readTree(Packed.json(answer.body()));
      default -> TextNode.valueOf(new String(answer.body(), StandardCharsets.UTF_8));
    };
  }

  private static String text(HttpResponse<byte[]> answer) {
    String text = new String(answer.body(), StandardCharsets.UTF_8);
    return answer.statusCode() + " " + text.substring(0, Math.min(text.length(), 1_000));
  }
}
