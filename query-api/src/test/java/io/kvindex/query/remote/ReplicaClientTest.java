// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplicaClientTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

  private final ReplicaClient client = new ReplicaClient();
  private final ExecutorService serving = Executors.newCachedThreadPool();
  private final Set<InetSocketAddress> connections = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closing = new CountDownLatch(1);
  private HttpServer server;
  private String address;

  /** What became of a question. */
  private record Outcome(byte @Nullable [] body, @Nullable Throwable failure) {}

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(serving);
    server.createContext("/echo", exchange -> answer(exchange, 200, readBody(exchange)));
    server.createContext("/no", exchange -> answer(exchange, 503, new byte[0]));
    server.createContext("/away", exchange -> answer(exchange, 302, new byte[0]));
    server.createContext("/login", exchange -> answer(exchange, 401, new byte[0]));
    server.createContext(
        "/deadline",
        exchange ->
            answer(
                exchange,
                200,
                exchange
                    .getRequestHeaders()
                    .getFirst(Deadline.HEADER)
                    .getBytes(StandardCharsets.US_ASCII)));
    server.createContext("/silent", this::sayNothing);
    server.createContext("/hangup", HttpExchange::close);
    server.start();
    address = "127.0.0.1:" + server.getAddress().getPort();
  }

  @AfterEach
  void stop() {
    closing.countDown();
    client.close();
    server.stop(0);
    serving.shutdownNow();
  }

  private byte[] readBody(HttpExchange exchange) throws IOException {
    connections.add(exchange.getRemoteAddress());
    return exchange.getRequestBody().readAllBytes();
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private void sayNothing(HttpExchange exchange) throws IOException {
    try {
      closing.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    exchange.close();
  }

  private CompletableFuture<Outcome> ask(String to, String path, byte[] body, long forNanos) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    client.ask(
        to,
        path,
        body,
        forNanos,
        (answer, failure) -> outcome.complete(new Outcome(answer, failure)));
    return outcome;
  }

  private Outcome answerOf(String path, byte[] body) {
    return ask(address, path, body, LONG_NS).join();
  }

  @Test
  void bodiesArriveAsTheyWereSentOverOneKeptConnection() {
    for (int i = 0; i < 50; i++) {
      byte[] body = new byte[1 + i * 7_919];
      body[body.length - 1] = (byte) i;

      Outcome outcome = answerOf("/echo", body);

      assertThat(outcome.failure()).isNull();
      assertThat(outcome.body()).isEqualTo(body);
    }
    assertThat(connections).hasSize(1);
  }

  @Test
  void saysHowLongTheAnswerIsOfUse() {
    Outcome outcome =
        ask(address, "/deadline", new byte[1], Duration.ofSeconds(7).toNanos()).join();
    assertThat(outcome.body()).asString(StandardCharsets.US_ASCII).isEqualTo("7000");
    assertThat(new String(outcome.body(), StandardCharsets.US_ASCII)).isEqualTo("7000");
  }

  @Test
  void whatIsNotAnAnswerIsRefusedAndNeverFollowed() {
    for (String path : List.of("/no", "/away", "/login", "/nowhere")) {
      Outcome outcome = answerOf(path, new byte[1]);

      assertThat(outcome.body()).isNull();
      assertThat(outcome.failure()).isInstanceOf(RefusedException.class);
    }
  }

  @Test
  void silenceEndsWithTheTimeHoweverShortThatIs() {
    for (long forNanos : new long[] {-1, 1, 500_000, 50_000_000}) {
      for (int i = 0; i < ReplicaClient.AT_A_TIME + 1; i++) {
        Outcome outcome = ask(address, "/silent", new byte[1], forNanos).join();

        assertThat(outcome.body()).isNull();
        assertThat(outcome.failure())
            .as("no sign of life")
            .isNotInstanceOf(RefusedException.class)
            .hasMessage("no answer in time");
      }
    }
    assertThat(answerOf("/echo", new byte[3]).body()).hasSize(3);
  }

  @Test
  void oneThatClosesTheConnectionIsSaidToHaveDoneSo() {
    Outcome outcome = answerOf("/hangup", new byte[1]);

    assertThat(outcome.body()).isNull();
    assertThat(outcome.failure())
        .as("no sign of life")
        .isNotInstanceOf(RefusedException.class)
        .hasMessage("it closed the connection");
  }

  @Test
  void oneThatIsSilentGetsNoMoreQuestionsThanItMayHave() {
    List<CompletableFuture<Outcome>> waiting = new ArrayList<>();
    for (int i = 0; i < ReplicaClient.AT_A_TIME; i++) {
      waiting.add(ask(address, "/silent", new byte[1], LONG_NS));
    }

    Outcome more = answerOf("/echo", new byte[1]);

    assertThat(more.failure()).isNotInstanceOf(RefusedException.class);
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    closing.countDown();
    waiting.forEach(one -> assertThat(one.join().failure()).isNotNull());
    assertThat(answerOf("/echo", new byte[1]).body()).hasSize(1);
  }

  @Test
  void nobodyThereAndAddressesThatAreNoneFail() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    for (String to : List.of("127.0.0.1:" + free, "127.0.0.1:none", "no such host:1")) {
      Outcome outcome = ask(to, "/echo", new byte[1], LONG_NS).join();

      assertThat(outcome.body()).isNull();
      assertThat(outcome.failure()).as(to).isNotNull();
    }
  }

  @Test
  void whatIsNotAnsweredWhenItClosesIsNotAnsweredAnyMore() {
    CompletableFuture<Outcome> waiting = ask(address, "/silent", new byte[1], LONG_NS);

    client.close();

    assertThat(waiting.join().failure()).isNotNull();
    assertThat(answerOf("/echo", new byte[1]).failure()).isNotNull();
  }
}
