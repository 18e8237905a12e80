// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.snippets;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Passes requests on to kvindex, but the first one is answered as a busy server answers, and
 * answers also say that an instance called "gone, really" is degraded.
 */
final class BusyFront implements AutoCloseable {

  static final String DEGRADED = "gone%2C%20really";

  private static final Set<String> PASSED_ON =
      Set.of(
          "content-type",
          "x-kvindex-deadline-ms",
          "x-kvindex-state",
          "x-kvindex-lag-ms",
          "retry-after");

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI index;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private final AtomicBoolean busy = new AtomicBoolean(true);
  private final List<String> asked = new CopyOnWriteArrayList<>();

  BusyFront(URI index) throws IOException {
    this.index = index;
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  String uri() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Paths and content types so far, the oldest first. */
  List<String> asked() {
    return List.copyOf(asked);
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    String type = exchange.getRequestHeaders().getFirst("Content-Type");
    asked.add(exchange.getRequestURI().getPath() + " " + type);
    if (busy.getAndSet(false)) {
      exchange.getResponseHeaders().set("Retry-After", "1");
      send(exchange, 429, "{\"reason\":\"too_many_requests\"}".getBytes(StandardCharsets.UTF_8));
      return;
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(index.resolve(exchange.getRequestURI().toString()))
            .timeout(Duration.ofSeconds(30))
            .POST(BodyPublishers.ofByteArray(body));
    exchange.getRequestHeaders().forEach((name, values) -> copy(name, values, request::header));
    try {
      HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
      response
          .headers()
          .map()
          .forEach((name, values) -> copy(name, values, exchange.getResponseHeaders()::add));
      exchange.getResponseHeaders().set("X-KvIndex-Degraded", DEGRADED);
      send(exchange, response.statusCode(), response.body());
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void copy(
      String name, List<String> values, java.util.function.BiConsumer<String, String> to) {
    if (PASSED_ON.contains(name.toLowerCase(Locale.ROOT))) {
      values.forEach(value -> to.accept(name, value));
    }
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
