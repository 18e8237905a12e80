// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * One replica's HTTP API. A replica that is down or refuses is an {@link IOException}. Thread-safe.
 */
final class SiteApi {

  static final int OK = 200;

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI uri;
  private final Duration timeout;

  /**
   * @param timeout for each answer
   */
  SiteApi(URI uri, Duration timeout) {
    this.uri = uri;
    this.timeout = timeout;
  }

  /** Registers an engine, in place of what had its name before. */
  void register(DrillEngine engine, String model) throws IOException, InterruptedException {
    post(
        "/register",
        JSON.createObjectNode()
            .put("endpoint", engine.endpoint())
            .put("replay_endpoint", engine.replayEndpoint())
            .put("type", "vLLM")
            .put("modelname", model)
            .put("instance_id", engine.name())
            .put("block_size", Text.BLOCK)
            .put("dp_rank", 0)
            .put("replace", true)
            .toString());
  }

  void unregister(DrillEngine engine, String model) throws IOException, InterruptedException {
    post(
        "/unregister",
        JSON.createObjectNode()
            .put("type", "vLLM")
            .put("modelname", model)
            .put("instance_id", engine.name())
            .put("block_size", Text.BLOCK)
            .put("dp_rank", 0)
            .toString());
  }

  /** Answers with {@code status} and {@code body}, in order; at most 256. */
  List<JsonNode> queries(List<Question> questions) throws IOException, InterruptedException {
    String body =
        questions.stream()
            .map(Question::json)
            .collect(Collectors.joining(",", "{\"queries\":[", "]}"));
    List<JsonNode> answers = new ArrayList<>();
    post("/query_batch", body).path("answers").forEach(answers::add);
    if (answers.size() != questions.size()) {
      throw new IOException(questions.size() + " questions, " + answers.size() + " answers");
    }
    return answers;
  }

  /** Newest event of each instance that answers show, -1 = none. */
  Map<String, Long> visible() throws IOException, InterruptedException {
    Map<String, Long> visible = new HashMap<>();
    listeners().forEach((name, one) -> visible.put(name, one.path("visible_event_id").asLong(-1)));
    return visible;
  }

  /** What {@code /workers} tells of each instance's one rank. */
  Map<String, JsonNode> listeners() throws IOException, InterruptedException {
    Map<String, JsonNode> listeners = new HashMap<>();
    for (JsonNode worker : get("/workers")) {
      listeners.put(worker.path("instance_id").asText(), worker.path("listeners").path("0"));
    }
    return listeners;
  }

  /** Instances it names as degraded. */
  Set<String> degraded() throws IOException, InterruptedException {
    Set<String> degraded = new TreeSet<>();
    listeners()
        .forEach(
            (name, one) -> {
              if (one.path("state").asText().equals("degraded")) {
                degraded.add(name);
              }
            });
    return degraded;
  }

  /** Whether it takes traffic. */
  boolean isReady() throws InterruptedException {
    try {
      get("/ready");
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  JsonNode get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri.resolve(path)).GET());
  }

  private JsonNode post(String path, String body) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(uri.resolve(path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body, StandardCharsets.UTF_8)));
  }

  private JsonNode send(HttpRequest.Builder builder) throws IOException, InterruptedException {
    HttpRequest request = builder.timeout(timeout).build();
    HttpResponse<byte[]> response = HTTP.send(request, BodyHandlers.ofByteArray());
    if (response.statusCode() != OK) {
      throw new IOException(
          request.uri()
              + " answered "
              + response.statusCode()
              + ": "
              + new String(response.body(), StandardCharsets.UTF_8));
    }
    return JSON.readTree(response.body());
  }
}
