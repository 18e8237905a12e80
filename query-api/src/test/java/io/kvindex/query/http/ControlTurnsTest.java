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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ControlTurnsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final List<String> resumed = new ArrayList<>();

  @Test
  void shouldRunInTheOrderTheyCame_whenAllTurnsAreTaken() {
    try (ControlTurns turns = new ControlTurns(2, 3, LONG)) {
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.tryTake()).isFalse();
      for (String name : List.of("a", "b", "c")) {
        assertThat(turns.await(come -> resumed.add(name + come))).isTrue();
      }
      assertThat(turns.await(come -> resumed.add("d"))).as("no room").isFalse();
      turns.done();
      turns.done();
      assertThat(resumed).containsExactly("atrue", "btrue");
      assertThat(turns.tryTake()).as("both places were handed over").isFalse();
      turns.done();
      turns.done();
      turns.done();
      assertThat(resumed).containsExactly("atrue", "btrue", "ctrue");
      assertThat(turns.await(come -> resumed.add("e" + come))).as("one is free").isTrue();
      assertThat(resumed).endsWith("etrue");
    }
  }

  @Test
  void shouldGiveUp_whenNoTurnComesInTime() throws InterruptedException {
    BlockingQueue<Boolean> outcome = new LinkedBlockingQueue<>();
    try (ControlTurns turns = new ControlTurns(1, 1, Duration.ofMillis(20))) {
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.await(outcome::add)).isTrue();
      assertThat(outcome.poll(20, TimeUnit.SECONDS)).isFalse();
      turns.done();
      assertThat(turns.tryTake()).as("the place was not given to who is gone").isTrue();
    }
    assertThat(outcome).isEmpty();
  }

  @Test
  void shouldRefuseAll_whenItIsClosed() {
    ControlTurns turns = new ControlTurns(1, 2, LONG);
    assertThat(turns.tryTake()).isTrue();
    assertThat(turns.await(come -> resumed.add("a" + come))).isTrue();
    turns.close();
    assertThat(resumed).containsExactly("afalse");
    assertThat(turns.await(come -> resumed.add("b"))).isFalse();
    turns.done();
    assertThat(turns.tryTake()).isFalse();
  }

  /** With a lost connection a client does not know whether it is registered. */
  @Test
  @Timeout(60)
  void shouldAnswerWhoWaits_whenTheServerIsClosed() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch kafka = new CountDownLatch(1);
    HttpServer server =
        HttpServer.start(
            new HttpSettings(
                "127.0.0.1", 0, 1 << 20, 1 << 17, 2, 1, 16, Duration.ofSeconds(20), 1, LONG),
            (form, query, reply) -> {},
            routes ->
                routes.post(
                    "/slow",
                    ctx -> {
                      running.countDown();
                      kafka.await(20, TimeUnit.SECONDS);
                    }),
            new SimpleMeterRegistry());
    CompletableFuture<HttpResponse<String>> first = post(server);
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    List<CompletableFuture<HttpResponse<String>>> more = List.of(post(server), post(server));
    CompletableFuture.anyOf(more.get(0), more.get(1)).get(20, TimeUnit.SECONDS);
    assertThat(first).isNotDone();
    assertThat(more).as("the other one waits").filteredOn(CompletableFuture::isDone).hasSize(1);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(server::close);
    for (CompletableFuture<HttpResponse<String>> one : more) {
      HttpResponse<String> answer = one.get(20, TimeUnit.SECONDS);
      assertThat(answer.statusCode()).isEqualTo(429);
      assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
      assertThat(answer.body()).contains("\"reason\":\"too_many_requests\"");
    }
    kafka.countDown();
    closed.get(20, TimeUnit.SECONDS);
  }

  private static CompletableFuture<HttpResponse<String>> post(HttpServer server) {
    URI slow = URI.create("http://127.0.0.1:" + server.port() + "/slow");
    return HttpClient.newHttpClient()
        .sendAsync(
            HttpRequest.newBuilder(slow).POST(BodyPublishers.ofString("{}")).build(),
            BodyHandlers.ofString());
  }
}
