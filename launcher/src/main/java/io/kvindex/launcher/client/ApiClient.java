// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
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
    return HttpRequest.newBuilder(address().resolve(path))
        .timeout(Duration.ofSeconds(timeoutSeconds));
  }

  private URI address() {
    try {
      URI uri = new URI(server);
      boolean http = "http".equalsIgnoreCase(uri.getScheme());
      if ((http || "https".equalsIgnoreCase(uri.getScheme())) && uri.getHost() != null) {
        return uri;
      }
      throw wrongServer(null);
    } catch (URISyntaxException e) {
      throw wrongServer(e);
    }
  }

  private IllegalArgumentException wrongServer(@Nullable Exception cause) {
    return new IllegalArgumentException("--server must be http://HOST:PORT, got " + server, cause);
  }

  private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
    HttpClient http =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(timeoutSeconds)).build();
    HttpResponse<byte[]> response;
    try {
      response = http.send(request, BodyHandlers.ofByteArray());
    } catch (ConnectException e) {
      throw new IOException(
          "nobody answers at "
              + server
              + "; start a server with `kvindex all`, or say where it is: --server URL",
          e);
    }
    JsonNode answer = JSON.readTree(response.body());
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
