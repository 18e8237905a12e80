// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/** The HTTP API as a test uses it: every answer but the wanted one is a failure. */
final class Api {

  static final ObjectMapper JSON = new ObjectMapper();
  static final String MODEL = "m";

  /** The server answered, and not as wanted. */
  static final class Refusal extends AssertionError {
    private static final long serialVersionUID = 1;

    private Refusal(String message) {
      super(message);
    }
  }

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI server;

  Api(URI server) {
    this.server = server;
  }

  JsonNode post(String path, JsonNode body) {
    return post(path, body, 200);
  }

  /** The same where another status is right. */
  JsonNode post(String path, JsonNode body, int status) {
    return send(request(path).POST(BodyPublishers.ofString(body.toString())).build(), status);
  }

  /**
   * The same in MessagePack.
   *
   * @return the answer as JSON text
   */
  String postPacked(String path, Map<String, Object> body, int status) throws IOException {
    HttpRequest request =
        request(path)
            .header("Content-Type", "application/msgpack")
            .POST(BodyPublishers.ofByteArray(WirePublisher.payload(body)))
            .build();
    try (MessageUnpacker unpacker =
        MessagePack.newDefaultUnpacker(exchange(request, status).body())) {
      return unpacker.unpackValue().toJson();
    }
  }

  JsonNode get(String path) {
    return get(path, 200);
  }

  /** The same where another status is right. */
  JsonNode get(String path, int status) {
    return send(request(path).GET().build(), status);
  }

  /** Registers an engine under its name, with everything at its default. */
  void register(SimulatedEngine engine, String tenant) {
    register(engine, engine.endpoint(), tenant);
  }

  /** The same with live events from somewhere else. */
  void register(SimulatedEngine engine, String endpoint, String tenant) {
    post("/register", registration(engine, endpoint, tenant));
  }

  /** The body that registers an engine, with everything at its default. */
  static ObjectNode registration(SimulatedEngine engine, String endpoint, String tenant) {
    return JSON.createObjectNode()
        .put("endpoint", endpoint)
        .put("replay_endpoint", engine.replayEndpoint())
        .put("type", "vLLM")
        .put("modelname", MODEL)
        .put("tenant_id", tenant)
        .put("instance_id", engine.options().name())
        .put("block_size", engine.options().blockSize())
        .put("dp_rank", engine.options().rank());
  }

  /** The answer's rows by instance. */
  JsonNode query(String tenant, int[] tokens, @Nullable String lora, int blockSize) {
    return post("/query", question(tenant, tokens, lora, blockSize)).path(tenant);
  }

  /** The instances the answer to the same question says are not to be trusted. */
  Optional<String> degraded(String tenant, int[] tokens, int blockSize) {
    return header("X-KvIndex-Degraded", tenant, tokens, blockSize);
  }

  /** A header of the answer to the same question. */
  Optional<String> header(String name, String tenant, int[] tokens, int blockSize) {
    String body = question(tenant, tokens, null, blockSize).toString();
    return exchange(request("/query").POST(BodyPublishers.ofString(body)).build())
        .headers()
        .firstValue(name);
  }

  private static ObjectNode question(
      String tenant, int[] tokens, @Nullable String lora, int blockSize) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", MODEL)
        .put("tenant_id", tenant)
        .put("block_size", blockSize)
        .put("lora_name", lora);
    var ids = body.putArray("token_ids");
    for (int token : tokens) {
      ids.add(Integer.toUnsignedLong(token));
    }
    return body;
  }

  /** Newest event of an engine that answers show, -1 = none. */
  long visible(String instance) {
    return listener(instance).path("visible_event_id").asLong(-1);
  }

  /** What {@code /workers} says of rank 0 of an instance, missing if it is not there. */
  JsonNode listener(String instance) {
    for (JsonNode worker : get("/workers")) {
      if (worker.path("instance_id").asText().equals(instance)) {
        return worker.path("listeners").path("0");
      }
    }
    return MissingNode.getInstance();
  }

  /** Whether the server takes traffic. */
  boolean isReady() {
    try {
      return http.send(request("/ready").GET().build(), BodyHandlers.discarding()).statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sum of a metric's samples over all labels. */
  double metric(String name) {
    return samples(name).values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /** A metric's samples by their labels as they are written, braces included. */
  Map<String, Double> samples(String name) {
    String text = new String(exchange(request("/metrics").build()).body(), StandardCharsets.UTF_8);
    return text.lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .collect(
            Collectors.toMap(
                line -> line.substring(name.length(), line.lastIndexOf(' ')),
                line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)),
                Double::sum));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(server.resolve(path)).timeout(Duration.ofSeconds(30));
  }

  private JsonNode send(HttpRequest request, int status) {
    try {
      return JSON.readTree(exchange(request, status).body());
    } catch (IOException e) {
      throw new AssertionError(request.uri() + " answered no JSON", e);
    }
  }

  private HttpResponse<byte[]> exchange(HttpRequest request) {
    return exchange(request, 200);
  }

  private HttpResponse<byte[]> exchange(HttpRequest request, int status) {
    try {
      HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
      if (response.statusCode() != status) {
        throw new Refusal(
            request.uri()
                + " answered "
                + response.statusCode()
                + ": "
                + new String(response.body(), StandardCharsets.UTF_8));
      }
      return response;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
