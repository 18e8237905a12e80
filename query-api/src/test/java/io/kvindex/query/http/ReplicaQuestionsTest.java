// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Other replicas may ask as much at a time as they allow themselves. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplicaQuestionsTest {
  private static final int MAX_BODY = 1 << 20;

  /** As many as one replica has another asked at a time. */
  private static final int AT_ONCE = 32;

  private final HttpClient client = HttpClient.newHttpClient();
  private final CountDownLatch met = new CountDownLatch(AT_ONCE);
  private HttpServer server;

  @BeforeAll
  void start() {
    server =
        HttpServer.start(
            new HttpSettings(
                "127.0.0.1", 0, MAX_BODY, 1 << 20, 256, 16, 64, Duration.ofSeconds(20)),
            (form, query, reply) -> reply.body().raw('{').raw('}'),
            EventVisibility.UNKNOWN,
            () -> Map.of("/replica/meet", this::meet),
            routes -> {},
            RequestObserver.NONE,
            new SimpleMeterRegistry());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  /** Answers when all of them are here. */
  private byte[] meet(byte[] question, @Nullable String parameters) {
    met.countDown();
    try {
      return new byte[] {(byte) (met.await(20, TimeUnit.SECONDS) ? 1 : 0)};
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldAnswerAllAtOnce_whenAReplicaAsksAsMuchAsItMay() {
    List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      answers.add(ask("/replica/meet", new byte[1]));
    }
    assertThat(answers)
        .map(CompletableFuture::join)
        .allSatisfy(
            answer -> {
              assertThat(answer.statusCode()).isEqualTo(200);
              assertThat(answer.body()).containsExactly(1);
            });
  }

  private CompletableFuture<HttpResponse<byte[]>> ask(String path, byte[] body) {
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("Content-Type", "application/octet-stream")
            .POST(BodyPublishers.ofByteArray(body))
            .build(),
        BodyHandlers.ofByteArray());
  }
}
