// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An HTTP server that does what a test says, and remembers what it was asked. */
final class StubHttp implements AutoCloseable {

  static {
    // As in Main: else each answer waits 40 ms for an acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(8);
  private final List<URI> asked = new CopyOnWriteArrayList<>();
  private volatile HttpHandler handler;

  StubHttp(HttpHandler handler) throws IOException {
    this.handler = handler;
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestURI());
          this.handler.handle(exchange);
        });
    server.start();
  }

  /** Answers the same to everything. */
  static HttpHandler answer(int status, String body, Map<String, String> headers) {
    return exchange -> {
      exchange.getRequestBody().readAllBytes();
      headers.forEach(exchange.getResponseHeaders()::set);
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    };
  }

  void handle(HttpHandler next) {
    handler = next;
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** What was asked for on a path, the oldest first. */
  List<URI> asked(String path) {
    return asked.stream().filter(uri -> uri.getPath().equals(path)).toList();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
