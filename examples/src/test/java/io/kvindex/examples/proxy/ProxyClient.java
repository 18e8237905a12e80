// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Asks a proxy for completions. */
final class ProxyClient {

  static final ObjectMapper JSON = new ObjectMapper();
  static final String MODEL = "m";

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI proxy;

  ProxyClient(URI proxy) {
    this.proxy = proxy;
  }

  HttpResponse<String> complete(int... tokens) throws IOException, InterruptedException {
    return post("/v1/completions", prompt(tokens), BodyHandlers.ofString());
  }

  <T> HttpResponse<T> post(String path, JsonNode body, BodyHandler<T> handler)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(proxy.resolve(path))
            .timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body.toString()))
            .build(),
        handler);
  }

  String get(String path) throws IOException, InterruptedException {
    return http.send(HttpRequest.newBuilder(proxy.resolve(path)).build(), BodyHandlers.ofString())
        .body();
  }

  static ObjectNode prompt(int... tokens) {
    ObjectNode body = JSON.createObjectNode().put("model", MODEL);
    body.set("prompt", JSON.valueToTree(tokens));
    return body;
  }

  static String instance(HttpResponse<?> response) {
    return response.headers().firstValue("X-Route-Instance").orElse("none");
  }

  static String reason(HttpResponse<?> response) {
    return response.headers().firstValue("X-Route-Reason").orElse("none");
  }

  static int matched(HttpResponse<?> response) {
    return (int) response.headers().firstValueAsLong("X-Route-Matched").orElse(-1);
  }
}
