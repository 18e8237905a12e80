// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.javalin.http.NotFoundResponse;
import io.kvindex.query.parse.BodyType;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bodies that come after the answer is known, or never. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LateBodiesTest {
  private static final int MAX_BODY = 1_024;
  private static final String EMPTY_QUERY = "{\"model\":\"m\",\"token_ids\":[]}";

  /** More than the server has threads. */
  private static final int MANY = 100;

  private final HttpClient client = HttpClient.newHttpClient();
  private final ExecutorService single = Executors.newSingleThreadExecutor();
  private HttpServer server;

  @BeforeAll
  void start() {
    HttpSettings settings =
        new HttpSettings("127.0.0.1", 0, MAX_BODY, 100, 1, 1, 16, Duration.ofSeconds(20));
    server =
        HttpServer.start(
            settings,
            (form, query, reply) -> reply.body().raw('{').raw('}'),
            routes -> {
              routes.get("/health", ctx -> ctx.result("{}"));
              routes.get(
                  "/later",
                  ctx ->
                      ctx.future(
                          () ->
                              CompletableFuture.runAsync(
                                  () -> {
                                    throw new NotFoundResponse();
                                  },
                                  single)));
              routes.post(
                  "/register_peer", ctx -> BodyType.requireJson(ctx.contentType(), ctx.path()));
            },
            new SimpleMeterRegistry());
  }

  @AfterAll
  void stop() {
    server.close();
    single.shutdownNow();
  }

  @ParameterizedTest
  @CsvSource({
    "POST,/query,X-KvIndex-Deadline-Ms: soon,400",
    "PUT,/query,Accept: */*,405",
    "POST,/query_batch,Content-Type: application/msgpack,415",
    "POST,/nothing,Accept: */*,404",
    "POST,/health,Accept: */*,405",
    "POST,/register_peer,Content-Type: application/msgpack,415",
  })
  void shouldKeepTheConnection_whenTheBodyComesAfterTheHeaderLines(
      String method, String path, String header, int status) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket.setSoTimeout(20_000);
      BufferedReader answers = reader(socket);
      String host = " HTTP/1.1\r\nHost: localhost\r\n";
      write(socket, method + " " + path + host + header + "\r\nContent-Length: 2\r\n\r\n");
      // What the server does with the header lines alone, it has done when these are answered.
      for (int i = 0; i < 20; i++) {
        assertThat(send(request("/health").GET()).statusCode()).isEqualTo(200);
      }
      write(socket, "{}");
      assertThat(statusOf(answers)).isEqualTo(status);
      write(socket, "GET /health" + host + "\r\n");
      assertThat(statusOf(answers)).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/nothing,Content-Length: 1,x,404",
    "/health,Content-Length: 1,x,200",
    "/later,Content-Length: 1,x,404",
    "/nothing,Transfer-Encoding: chunked,0~~,404",
  })
  void shouldGoOnAnswering_whenManyGetsDoNotSendTheirBodies(
      String path, String header, String body, int status) throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < MANY; i++) {
        Socket socket = new Socket("127.0.0.1", server.port());
        socket.setSoTimeout(20_000);
        sockets.add(socket);
        write(socket, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n");
      }
      for (int i = 0; i < 20; i++) {
        assertThat(send(soon("/health").GET()).statusCode()).isEqualTo(200);
        HttpRequest.Builder query = soon("/query").POST(BodyPublishers.ofString(EMPTY_QUERY));
        assertThat(send(query).statusCode()).isEqualTo(200);
      }
      assertThat(send(soon("/later").GET()).statusCode()).isEqualTo(404);
      for (Socket socket : sockets) {
        write(socket, body.replace("~", "\r\n"));
        assertThat(statusOf(reader(socket))).isEqualTo(status);
      }
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void shouldRefuseAndClose_whenTheBodyOfAGetNeverComes() throws Exception {
    HttpSettings settings =
        new HttpSettings("127.0.0.1", 0, MAX_BODY, 100, 1, 1, 16, Duration.ofMillis(300));
    try (HttpServer impatient =
            HttpServer.start(
                settings,
                (form, query, reply) -> {},
                routes -> routes.get("/health", ctx -> ctx.result("{}")),
                new SimpleMeterRegistry());
        Socket socket = new Socket("127.0.0.1", impatient.port())) {
      socket.setSoTimeout(20_000);
      write(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n");
      BufferedReader answers = reader(socket);
      assertThat(statusOf(answers)).isEqualTo(400);
      assertThat(answers.readLine()).as("the connection is closed").isNull();
    }
  }

  private HttpRequest.Builder soon(String path) {
    return request(path).timeout(Duration.ofSeconds(5));
  }

  private static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** Of the next answer, read to the end of its body. */
  private static int statusOf(BufferedReader answers) throws IOException {
    String line = answers.readLine();
    assertThat(line).isNotNull();
    final int status = Integer.parseInt(line.split(" ")[1]);
    int length = 0;
    while (!line.isEmpty()) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring(15).trim());
      }
      line = answers.readLine();
    }
    assertThat(answers.skip(length)).isEqualTo(length);
    return status;
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  /** As soon as the place of the request before, which was answered already, is free. */
  private HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    HttpResponse<byte[]> answer = client.send(request.build(), BodyHandlers.ofByteArray());
    while (answer.statusCode() == 429 && System.nanoTime() < end) {
      answer = client.send(request.build(), BodyHandlers.ofByteArray());
    }
    return answer;
  }
}
