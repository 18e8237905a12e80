// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ContractRoutesTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private HttpServer server;

  @BeforeAll
  void start() {
    ContractRoutes routes = new ContractRoutes();
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> reply.body().raw('{').raw('}'),
            routes::addTo,
            new SimpleMeterRegistry());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void shouldNeedNobodyElse_whenThePageIsRead() throws Exception {
    HttpResponse<String> page = get("/docs");
    assertThat(page.statusCode()).isEqualTo(200);
    List<String> parts =
        Pattern.compile("(?:src|href)=\"([^\"]*)\"")
            .matcher(page.body())
            .results()
            .map(MatchResult.class::cast)
            .map(one -> one.group(1))
            .filter(one -> !one.startsWith("data:"))
            .toList();
    assertThat(parts).hasSize(3).allMatch(one -> one.startsWith("/docs/"));
    for (String part : parts) {
      assertThat(get(part).statusCode()).as(part).isEqualTo(200);
    }
    assertThat(get("/docs/start.js").body()).contains("'/openapi.yaml'", "validatorUrl: null");
    // What Swagger UI might ask of others all the same, a browser refuses by this.
    assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
        .startsWith("default-src 'self';")
        .doesNotContain("http");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/docs/openapi.yaml",
        "/docs/docs.html",
        "/docs/..",
        "/docs/%2e%2e/%2e%2e/ContractRoutes.class",
        "/docs/..%2fContractRoutes.class",
        "/docs/../contract/ContractRoutes.class",
        "/docs/swagger-ui.css/../ContractRoutes.class",
        "/docs/%2fMETA-INF%2fMANIFEST.MF",
        "/docs//META-INF/MANIFEST.MF",
        "/docs/swagger-ui.css%00",
        "/docs/.",
      })
  void shouldGiveNothingElseAway_whenAskedForIt(String path) throws IOException {
    // By hand: a client would tidy the path up.
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      String request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      String answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      assertThat(answer).containsPattern("^HTTP/1.1 (404|400) ").contains("\"reason\":");
    }
  }

  private HttpResponse<String> get(String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }
}
