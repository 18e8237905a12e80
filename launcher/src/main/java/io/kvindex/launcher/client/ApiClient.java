// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the server is and how to talk to it; mixed into every client command. */
final class ApiClient {

  static final ObjectMapper JSON = new ObjectMapper();

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "Address of any replica (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_SERVER:-http://127.0.0.1:13333}")
  private String server;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int timeoutSeconds;

  private @Nullable HttpClient http;

  /** GETs a path; the answer's JSON. */
  JsonNode get(String path) throws IOException, InterruptedException {
    return send(request(path).GET().build());
  }

  /** POSTs a JSON body; the answer's JSON. */
  JsonNode post(String path, JsonNode body) throws IOException, InterruptedException {
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
            .build());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(ServerAddress.of("--server", server).resolve(path))
        .timeout(Duration.ofSeconds(timeoutSeconds));
  }

  /** One for all that is asked: each has a thread of its own until it is collected. */
  private HttpClient client() {
    if (http == null) {
      http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(timeoutSeconds)).build();
    }
    return http;
  }

  private JsonNode json(HttpResponse<byte[]> response) throws IOException {
    try {
      return JSON.readTree(response.body());
    } catch (JsonProcessingException e) {
      throw new IOException(
          "what answers at " + server + " (" + response.statusCode() + ") is no kvindex", e);
    }
  }

  private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<byte[]> response;
    try {
      response = client().send(request, BodyHandlers.ofByteArray());
    } catch (ConnectException e) {
      throw new IOException(
          "nobody answers at "
              + server
              + "; start a server with `kvindex all`, or say where it is: --server URL",
          e);
    }
    JsonNode answer = json(response);
    if (response.statusCode() >= 400) {
      throw new IOException(
          "the server refused ("
              + response.statusCode()
              + "): "
              + answer.path("error").asText(answer.toString()));
    }
    return answer;
  }
}
