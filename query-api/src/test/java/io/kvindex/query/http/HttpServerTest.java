// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.kvindex.query.lookup.Trust;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // closing a server takes a second
class HttpServerTest {
  private static final String QUERY = "{\"model\":\"m\",\"block_size\":2,\"token_ids\":[1,2,3]}";
  private static final int MAX_BODY = 1 << 20;
  private static final int MAX_IN_FLIGHT = 2;
  private static final int MAX_CONTROL = 4;

  private final HttpClient client = HttpClient.newHttpClient();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch waiting = new CountDownLatch(MAX_IN_FLIGHT);
  private final CountDownLatch registering = new CountDownLatch(MAX_CONTROL);
  private final CountDownLatch kafka = new CountDownLatch(1);
  private HttpServer server;

  @BeforeAll
  void start() {
    HttpSettings settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            MAX_BODY,
            1 << 17,
            MAX_IN_FLIGHT,
            MAX_CONTROL,
            16,
            Duration.ofSeconds(20));
    server =
        HttpServer.start(
            settings,
            (form, query, reply) -> {
              if (query.model().equals("bug")) {
                throw new IllegalStateException("secret detail");
              }
              if (query.model().equals("wait")) {
                await();
              }
              reply.trust(Trust.DEGRADED, 7, "e1");
              reply.body().raw('{').name(form.name()).number(query.count()).raw('}');
            },
            routes -> {
              routes.get("/health", ctx -> ctx.result("{}"));
              routes.get(
                  "/bug",
                  ctx -> {
                    throw new IllegalStateException("secret detail");
                  });
              routes.get(
                  "/begun",
                  ctx -> {
                    ctx.outputStream().write('{');
                    throw new IllegalStateException("secret detail");
                  });
              routes.post("/slow", ctx -> registering(ctx.body()));
              routes.post("/echo", ctx -> ctx.result(ctx.bodyAsBytes().length + ""));
            },
            registry);
  }

  private void await() {
    waiting.countDown();
    try {
      gate.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterAll
  void stop() {
    gate.countDown();
    server.close();
  }

  /** What is closed behind it would stay open. */
  @Test
  void shouldCloseAllTheSame_whenARequestDoesNotEnd() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    HttpServer busy =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> {},
            routes ->
                routes.get(
                    "/long",
                    ctx -> {
                      asked.countDown();
                      kafka.await();
                    }),
            new SimpleMeterRegistry());
    URI uri = URI.create("http://127.0.0.1:" + busy.port() + "/long");
    var unused = client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
    assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
    assertThatCode(busy::close).doesNotThrowAnyException();
  }

  @Test
  void shouldAnswerWithTrustHeaders_whenQueryIsGood() throws Exception {
    HttpResponse<String> answer = post("/query", QUERY);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"TOKENS\":3}");
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(answer.headers().firstValue("X-KvIndex-State")).hasValue("degraded");
    assertThat(answer.headers().firstValue("X-KvIndex-Lag-Ms")).hasValue("7");
    assertThat(answer.headers().firstValue("X-KvIndex-Degraded")).hasValue("e1");
    assertThat(post("/query_by_hash", "{\"model\":\"m\",\"seq_hashes\":[1]}").body())
        .isEqualTo("{\"HASHES\":1}");
    assertThat(registry.get("kvindex.query.latency").tag("route", "query").timer().count())
        .isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/query,405,method_not_allowed",
    "PUT,/query_by_hash,405,method_not_allowed",
    "DELETE,/health,405,method_not_allowed",
    "GET,/nothing,404,not_found",
    "POST,/query/x,404,not_found",
    "GET,/bug,500,internal",
    "GET,/begun,500,internal",
  })
  void shouldUseTheOneErrorBody_whenRouteIsWrong(
      String method, String path, int status, String reason) throws Exception {
    HttpResponse<String> answer =
        send(request(path).method(method, BodyPublishers.ofString("{}")).build());
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.body())
        .startsWith("{\"error\":")
        .contains("\"reason\":\"" + reason + "\"")
        .doesNotContain("secret");
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(post("/query", QUERY).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldHideTheStack_whenQueryCodeFails() throws Exception {
    HttpResponse<String> answer = post("/query", QUERY.replace("\"m\"", "\"bug\""));
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).contains("incident").doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({"application/msgpack", "application/x-msgpack"})
  void shouldReadMsgpack_whenTheTypeSaysSo(String type) throws Exception {
    HttpResponse<String> answer =
        send(
            request("/query")
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(QUERY))
                .build());
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("invalid_msgpack");
  }

  @Test
  void shouldTakeOctets_whenNamesStandInTheQueryString() throws Exception {
    HttpResponse<String> answer =
        send(
            request("/query?model=m&tenant_id=a%20b")
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofByteArray(new byte[12]))
                .build());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"TOKENS\":3}");
    HttpResponse<String> refused =
        send(
            request("/query_by_hash?model=m")
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofByteArray(new byte[12]))
                .build());
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("u64 hashes");
  }

  @Test
  void shouldReadAnyOtherTypeAsJson_whenCurlSendsItsFormType() throws Exception {
    HttpResponse<String> answer =
        send(
            request("/query")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(QUERY))
                .build());
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"/query,true", "/query,false", "/query_by_hash,true", "/echo,true", "/echo,false"})
  void shouldAnswer413AndGoOn_whenBodyHas200MB(String path, boolean announced) throws Exception {
    long length = 200L << 20;
    BodyPublisher stream = BodyPublishers.ofInputStream(() -> new Zeros(length));
    BodyPublisher body = announced ? BodyPublishers.fromPublisher(stream, length) : stream;
    // A client of its own: the JDK's may pick a pooled connection that the server is just closing.
    HttpClient fresh = HttpClient.newHttpClient();
    HttpResponse<String> answer =
        fresh.send(request(path).POST(body).build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("\"reason\":\"body_too_large\"");
    assertThat(post("/query", QUERY).statusCode()).isEqualTo(200);
  }

  private void registering(String body) {
    registering.countDown();
    try {
      if (!kafka.await(20, TimeUnit.SECONDS) || !body.equals("{}")) {
        throw new IllegalStateException(body);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A fleet that starts registers its engines all at once. */
  @Test
  void shouldLetThemWaitTheirTurn_whenMoreRegisterThanMayAtATime() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> fleet = new ArrayList<>();
    for (int i = 0; i < 10 * MAX_CONTROL; i++) {
      fleet.add(
          client.sendAsync(
              request("/slow").POST(BodyPublishers.ofString("{}")).build(),
              BodyHandlers.ofString()));
    }
    assertThat(registering.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(post("/query", QUERY).statusCode()).as("queries go on").isEqualTo(200);
    kafka.countDown();
    for (CompletableFuture<HttpResponse<String>> one : fleet) {
      assertThat(one.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void shouldAnswer429WithRetryAfter_whenTooManyQueriesRun() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
    for (int i = 0; i < MAX_IN_FLIGHT; i++) {
      running.add(
          client.sendAsync(
              request("/query")
                  .POST(BodyPublishers.ofString(QUERY.replace("\"m\"", "\"wait\"")))
                  .build(),
              BodyHandlers.ofString()));
    }
    assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();
    HttpResponse<String> answer = post("/query", QUERY);
    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(answer.body()).contains("\"reason\":\"too_many_requests\"");
    gate.countDown();
    for (CompletableFuture<HttpResponse<String>> one : running) {
      assertThat(one.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }
    assertThat(post("/query", QUERY).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldAssembleBody_whenItArrivesByteByByte() throws Exception {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket.setTcpNoDelay(true);
      String head = "POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: " + QUERY.length();
      for (byte b : (head + "\r\n\r\n" + QUERY).getBytes(StandardCharsets.US_ASCII)) {
        socket.getOutputStream().write(b);
        socket.getOutputStream().flush();
      }
      assertThat(answerFrom(socket, "}")).contains("200 OK").contains("{\"TOKENS\":3}");
    }
  }

  @ParameterizedTest
  @CsvSource({"NONSENSE", "GET / HTTP/9.9", "GET \u0001 HTTP/1.1"})
  void shouldKeepTheErrorBody_whenRequestLineIsBroken(String line) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket.getOutputStream().write((line + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      String answer = answerFrom(socket, "}");
      assertThat(answer).contains("\"reason\":").doesNotContain("<html").doesNotContain("\tat ");
    }
  }

  @Test
  void shouldReadChunkedBody_whenItsLengthIsNotAnnounced() throws Exception {
    String tokens = "1,".repeat(100_000) + "1";
    byte[] body = QUERY.replace("1,2,3", tokens).getBytes(StandardCharsets.US_ASCII);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    assertThat(send(request("/query").POST(chunked).build()).body())
        .isEqualTo("{\"TOKENS\":100001}");
  }

  @Test
  void shouldReleaseItsBuffer_whenClientHangsUpHalfWay() throws Exception {
    for (int i = 0; i < 3 * MAX_IN_FLIGHT; i++) {
      try (Socket socket = new Socket("127.0.0.1", server.port())) {
        String head = "POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{\"model\":";
        socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      }
    }
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> registry.get("kvindex.http.in.flight").gauge().value() == 0);
    assertThat(post("/query", QUERY).statusCode()).isEqualTo(200);
  }

  private static String answerFrom(Socket socket, String end) throws IOException {
    socket.setSoTimeout(20_000);
    StringBuilder text = new StringBuilder();
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[4096];
    for (int n; text.indexOf(end) < 0 && (n = in.read(buffer)) > 0; ) {
      text.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
    }
    return text.toString();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(BodyPublishers.ofString(body)).build());
  }

  private HttpResponse<String> send(HttpRequest request) throws Exception {
    return client.send(request, BodyHandlers.ofString());
  }

  /** As many zero bytes as asked for, made on demand. */
  private static final class Zeros extends InputStream {
    private long left;

    Zeros(long length) {
      left = length;
    }

    @Override
    public int read() {
      return left-- > 0 ? 0 : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      if (left <= 0) {
        return -1;
      }
      int n = (int) Math.min(left, length);
      left -= n;
      return n;
    }
  }
}
