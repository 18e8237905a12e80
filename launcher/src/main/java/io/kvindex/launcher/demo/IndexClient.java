// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** What a router of any language would do: our HTTP API and nothing else. Thread-safe. */
final class IndexClient {

  static final String MODEL = "demo-model";
  static final String TENANT = "default";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI server;

  IndexClient(URI server) {
    this.server = server;
  }

  void register(SimulatedEngine engine) throws IOException, InterruptedException {
    ObjectNode body = JSON.createObjectNode();
    body.put("endpoint", engine.endpoint())
        .put("replay_endpoint", engine.replayEndpoint())
        .put("type", "vLLM")
        .put("modelname", MODEL)
        .put("instance_id", engine.options().name())
        .put("block_size", engine.options().blockSize())
        .put("dp_rank", engine.options().rank());
    send("/register", body.toString());
  }

  /** The answer's rows by instance. */
  JsonNode query(int[] tokens, int blockSize) throws IOException, InterruptedException {
    StringBuilder body = new StringBuilder(tokens.length * 7 + 64);
    body.append("{\"model\":\"")
        .append(MODEL)
        .append("\",\"block_size\":")
        .append(blockSize)
        .append(",\"token_ids\":[");
    for (int i = 0; i < tokens.length; i++) {
      body.append(i == 0 ? "" : ",").append(Integer.toUnsignedString(tokens[i]));
    }
    return send("/query", body.append("]}").toString()).path(TENANT);
  }

  /** Sequence of the newest batch of an engine that answers already show; -1 = none. */
  long visibleSequence(SimulatedEngine engine) throws IOException, InterruptedException {
    for (JsonNode worker : JSON.readTree(get("/workers"))) {
      if (worker.path("instance_id").asText().equals(engine.options().name())) {
        JsonNode listener =
            worker.path("listeners").path(Integer.toString(engine.options().rank()));
        return listener.path("visible_event_id").asLong(-1);
      }
    }
    return -1;
  }

  /** The metrics page. */
  String metrics() throws IOException, InterruptedException {
    return get("/metrics");
  }

  private String get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(server.resolve(path)).timeout(TIMEOUT).GET().build());
  }

  private JsonNode send(String path, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(server.resolve(path))
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body, StandardCharsets.UTF_8))
            .build();
    return JSON.readTree(send(request));
  }

  private String send(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(
          request.uri().getPath() + " answered " + response.statusCode() + ": " + response.body());
    }
    return response.body();
  }
}
