// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sends requests to engines and streams their answers back as they come. Thread-safe. */
final class Forwarder {

  /** Of one connection, not of the message; the HTTP client and server set their own. */
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "content-length",
          "expect",
          "host",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "http2-settings");

  /** The engine is there and says that it can not take the request now; another one may. */
  private static final Set<Integer> REFUSALS = Set.of(429, 502, 503);

  private final HttpClient http;
  private final StallGuard guard;
  private final Duration timeout;

  /**
   * @param timeout longest time to the answer's first byte; a whole answer's generation, where it
   *     is not streamed
   */
  Forwarder(HttpClient http, StallGuard guard, Duration timeout) {
    this.http = http;
    this.guard = guard;
    this.timeout = timeout;
  }

  /**
   * Sends a request to an engine.
   *
   * @return its answer, of which the caller reads or closes the body; null if it gave none. Sending
   *     the request to another engine is safe then: a completion changes nothing but caches
   */
  @Nullable HttpResponse<InputStream> send(HttpExchange exchange, byte[] body, Engine engine)
      throws InterruptedException {
    URI target = exchange.getRequestURI();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(engine.uri().resolve(target.toString()))
            .timeout(timeout)
            .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
    exchange.getRequestHeaders().forEach((name, values) -> copy(name, values, request::header));
    try {
      return http.send(request.build(), BodyHandlers.ofInputStream());
    } catch (IOException e) {
      return null;
    }
  }

  /** Whether another engine should be tried. */
  static boolean isRefusal(HttpResponse<?> response) {
    return REFUSALS.contains(response.statusCode());
  }

  /**
   * Passes an answer on, each piece as it comes.
   *
   * @throws IOException if either side breaks off; the client's connection must be cut then, for a
   *     proper end would make half an answer look whole
   */
  void relay(HttpResponse<InputStream> response, HttpExchange exchange) throws IOException {
    Headers headers = exchange.getResponseHeaders();
    response.headers().map().forEach((name, values) -> copy(name, values, headers::add));
    long length = response.headers().firstValueAsLong("Content-Length").orElse(0);
    boolean empty = response.statusCode() == 204 || response.statusCode() == 304;
    try (InputStream in = response.body()) {
      exchange.sendResponseHeaders(response.statusCode(), empty ? -1 : length);
      byte[] piece = new byte[8_192];
      OutputStream out = exchange.getResponseBody();
      for (int n = guard.read(in, piece); n >= 0; n = guard.read(in, piece)) {
        out.write(piece, 0, n);
        out.flush();
      }
    }
    exchange.close();
  }

  private static void copy(
      String name, Iterable<String> values, java.util.function.BiConsumer<String, String> to) {
    if (!HOP_BY_HOP.contains(name.toLowerCase(Locale.ROOT))) {
      values.forEach(value -> to.accept(name, value));
    }
  }
}
