// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The HTTP API as a router uses it. A server that is down, or says no, is an {@link IOException}.
 * Thread-safe.
 */
final class IndexApi {

  static final String MODEL = "chaos-model";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI server;
  private final Duration timeout;

  IndexApi(URI server) {
    this(server, TIMEOUT);
  }

  /**
   * The same.
   *
   * @param timeout for each answer
   */
  IndexApi(URI server, Duration timeout) {
    this.server = server;
    this.timeout = timeout;
  }

  /**
   * An answer.
   *
   * @param rows by instance
   * @param degraded instances it says are not to be trusted
   * @param stale whether it says that it is not kept up
   */
  record Answer(JsonNode rows, Set<String> degraded, boolean stale) {}

  Answer query(String tenant, Prompt prompt) throws IOException, InterruptedException {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", MODEL)
        .put("tenant_id", tenant)
        .put("block_size", Prompts.BLOCK)
        .put("lora_name", prompt.lora())
        .put("cache_salt", prompt.salt());
    ArrayNode ids = body.putArray("token_ids");
    for (int token : prompt.tokens()) {
      ids.add(Integer.toUnsignedLong(token));
    }
    HttpResponse<byte[]> response = post("/query", body);
    Set<String> degraded = new HashSet<>();
    response
        .headers()
        .firstValue("X-KvIndex-Degraded")
        .ifPresent(names -> degraded.addAll(List.of(names.split(","))));
    boolean stale =
        response.headers().firstValue("X-KvIndex-State").filter("stale"::equals).isPresent();
    return new Answer(JSON.readTree(response.body()).path(tenant), degraded, stale);
  }

  /** Instances that are connected and shown to be those from before. */
  Set<String> proven() throws IOException, InterruptedException {
    Set<String> proven = new HashSet<>();
    for (JsonNode worker : workers()) {
      if (worker.path("listeners").path("0").path("proven").asBoolean()) {
        proven.add(worker.path("instance_id").asText());
      }
    }
    return proven;
  }

  /** Newest event of each registered instance that answers show, -1 = none. */
  Map<String, Long> visible() throws IOException, InterruptedException {
    Map<String, Long> visible = new HashMap<>();
    for (JsonNode worker : workers()) {
      visible.put(
          worker.path("instance_id").asText(),
          worker.path("listeners").path("0").path("visible_event_id").asLong(-1));
    }
    return visible;
  }

  JsonNode workers() throws IOException, InterruptedException {
    return JSON.readTree(send(request("/workers").GET().build()).body());
  }

  /**
   * What is followed, one node each with instance, state and endpoint: a bridge says so itself, an
   * indexer what it has heard of it.
   */
  List<JsonNode> followers() throws IOException, InterruptedException {
    List<JsonNode> all = new ArrayList<>();
    for (JsonNode worker : workers()) {
      JsonNode heard = worker.path("listeners").path("0");
      all.add(
          heard.isMissingNode()
              ? worker
              : ((ObjectNode) heard.deepCopy()).set("instance_id", worker.path("instance_id")));
    }
    return all;
  }

  /** Whether its bridge says that events of an engine are lost. */
  boolean isDegraded(ChaosEngine engine) throws IOException, InterruptedException {
    for (JsonNode follower : followers()) {
      if (follower.path("instance_id").asText().equals(engine.name())) {
        return follower.path("state").asText().equals("degraded");
      }
    }
    return false;
  }

  /** What it says is wrong with an engine. */
  String lastError(ChaosEngine engine) throws IOException, InterruptedException {
    for (JsonNode follower : followers()) {
      if (follower.path("instance_id").asText().equals(engine.name())) {
        return follower.path("last_error").asText("nothing said");
      }
    }
    return "not registered";
  }

  void register(ChaosEngine engine, boolean replace) throws IOException, InterruptedException {
    SimulatedEngine simulated = engine.engine();
    post(
        "/register",
        JSON.createObjectNode()
            .put("endpoint", engine.proxy().endpoint())
            .put("replay_endpoint", engine.hasReplay() ? simulated.replayEndpoint() : null)
            .put("type", engine.isVllm() ? "vLLM" : "SGLang")
            .put("modelname", MODEL)
            .put("tenant_id", engine.tenant())
            .put("instance_id", engine.name())
            .put("block_size", Prompts.BLOCK)
            .put("dp_rank", 0)
            .put("replace", replace));
  }

  void unregister(ChaosEngine engine) throws IOException, InterruptedException {
    post(
        "/unregister",
        JSON.createObjectNode()
            .put("type", engine.isVllm() ? "vLLM" : "SGLang")
            .put("modelname", MODEL)
            .put("tenant_id", engine.tenant())
            .put("instance_id", engine.name())
            .put("block_size", Prompts.BLOCK)
            .put("dp_rank", 0));
  }

  /** Whether it takes traffic. */
  boolean isReady() throws InterruptedException {
    try {
      send(request("/ready").GET().build());
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private HttpResponse<byte[]> post(String path, JsonNode body)
      throws IOException, InterruptedException {
    return send(
        request(path).POST(BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body))).build());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(server.resolve(path)).timeout(timeout);
  }

  private HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) {
      throw new IOException(
          request.uri().getPath()
              + " answered "
              + response.statusCode()
              + ": "
              + new String(response.body(), java.nio.charset.StandardCharsets.UTF_8));
    }
    return response;
  }
}
