// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is asked of the quarantine while Kafka says nothing. */
class QuarantineRoutesTest {

  private final HttpClient http = HttpClient.newHttpClient();
  private ServerSocket silent;
  private HttpServer server;

  @BeforeEach
  void start() throws Exception {
    silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    QuarantineRoutes routes =
        new QuarantineRoutes(
            Map.of("bootstrap.servers", "127.0.0.1:" + silent.getLocalPort()),
            () -> RegistrationSnapshot.EMPTY,
            publisher -> null,
            FrameReader.NONE);
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> reply.body().raw('{').raw('}'),
            routes::addTo,
            new SimpleMeterRegistry());
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    silent.close();
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"force=yes", "all=1", "all=true&force=TRUE", "force="})
  void shouldRefuse_whatIsNeitherTrueNorFalse(String parameters) throws Exception {
    HttpResponse<String> answer =
        http.send(
            to("/quarantine/retry?" + parameters)
                .POST(BodyPublishers.ofString("{\"instance_id\":\"e\"}"))
                .build(),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("must be true or false", "\"reason\":\"invalid_value\"");
  }

  /** Each that waits keeps a thread, and nothing else bounds what is asked with GET. */
  @Test
  void shouldRefuseTheThird_whenTwoWaitForKafka() {
    var asked =
        IntStream.range(0, 3)
            .mapToObj(i -> http.sendAsync(to("/quarantine").GET().build(), BodyHandlers.ofString()))
            .toList();
    Object first = CompletableFuture.anyOf(asked.toArray(new CompletableFuture<?>[0])).join();
    assertThat(((HttpResponse<?>) first).statusCode()).isEqualTo(429);
    assertThat(Stream.of(asked.get(0), asked.get(1), asked.get(2)).filter(one -> !one.isDone()))
        .hasSize(2);
  }
}
