// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Takes OpenAI-style requests and sends each to the engine with the best {@link Candidate score};
 * without an answer from kvindex to the least loaded one. Every answer says why: {@code
 * X-Route-Instance}, {@code X-Route-Reason}, {@code X-Route-Matched} (tokens). Beside them it
 * serves {@code /health} and {@code /metrics} of its own.
 */
final class CacheAwareProxy implements AutoCloseable {

  /** Threads beside those that answer: for saying that there are no more. */
  private static final int SPARE_THREADS = 8;

  private final ProxyOptions options;
  private final Router router;
  private final Semaphore slots;
  private final ThreadPoolExecutor threads;
  private final HttpServer server;

  private CacheAwareProxy(ProxyOptions options) throws IOException {
    this.options = options;
    router = new Router(options);
    slots = new Semaphore(options.maxInFlight());
    threads =
        new ThreadPoolExecutor(
            SPARE_THREADS,
            options.maxInFlight() + SPARE_THREADS,
            30,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new ThreadPoolExecutor.CallerRunsPolicy());
    server = HttpServer.create(new InetSocketAddress(options.bind(), options.port()), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.createContext("/health", exchange -> text(exchange, "ok\n"));
    server.createContext("/metrics", exchange -> text(exchange, router.metrics()));
  }

  /** Listens until closed. */
  static CacheAwareProxy start(ProxyOptions options) throws IOException, InterruptedException {
    CacheAwareProxy proxy = new CacheAwareProxy(options);
    proxy.router.warmUp();
    proxy.server.start();
    return proxy;
  }

  URI uri() {
    return URI.create("http://" + options.bind() + ":" + server.getAddress().getPort());
  }

  List<Engine> engines() {
    return router.engines();
  }

  private void handle(HttpExchange exchange) throws IOException {
    if (!slots.tryAcquire()) {
      exchange.getResponseHeaders().set("Retry-After", "1");
      error(exchange, 429, "too many requests in flight");
      return;
    }
    try {
      byte[] body = exchange.getRequestBody().readNBytes(options.maxBodyBytes() + 1);
      if (body.length > options.maxBodyBytes()) {
        error(exchange, 413, "the request is longer than " + options.maxBodyBytes() + " bytes");
      } else if (!router.route(exchange, body)) {
        error(exchange, 502, "no engine answers");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the proxy is being stopped");
    } finally {
      slots.release();
    }
  }

  private static void text(HttpExchange exchange, String text) throws IOException {
    reply(exchange, 200, "text/plain; charset=utf-8", text);
  }

  /** In the shape of OpenAI's errors. */
  private static void error(HttpExchange exchange, int status, String message) throws IOException {
    String error = "{\"message\":\"" + message + "\",\"type\":\"proxy\",\"code\":" + status + "}";
    reply(exchange, status, "application/json", "{\"error\":" + error + "}");
  }

  private static void reply(HttpExchange exchange, int status, String type, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    router.close();
  }
}
