// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A replica that answers what a test wants, on a free port; each question has a thread. */
public final class StandInReplica implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long LONGEST_SECONDS = 60;

  private final HttpServer http;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Function<JsonNode, Reply> replies;

  /** An answer. */
  public record Reply(int status, Map<String, String> headers, String body) {

    /** The one that is wanted. */
    public static Reply ok(String body) {
      return new Reply(200, Map.of(), body);
    }

    /** 503 with a message. */
    public static Reply refusal(String why) {
      return new Reply(503, Map.of(), "{\"error\":\"" + why + "\"}");
    }
  }

  /**
   * @param replies to the body of each question, by any thread; may wait
   */
  public StandInReplica(Function<JsonNode, Reply> replies) throws IOException {
    this.replies = replies;
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext("/", this::answer);
    http.start();
  }

  /** The same answer after a latch is at zero: until then it stands still. */
  public static Function<JsonNode, Reply> after(CountDownLatch latch, Reply reply) {
    return question -> {
      await(latch);
      return reply;
    };
  }

  /** Waits for a latch as a replica that stands still does. */
  public static void await(CountDownLatch latch) {
    try {
      if (!latch.await(LONGEST_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody let it go on");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Where it answers. */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort());
  }

  /** Questions that came. */
  public int asked() {
    return asked.get();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      JsonNode question = JSON.readTree(exchange.getRequestBody());
      asked.incrementAndGet();
      Reply reply = replies.apply(question);
      byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
      reply.headers().forEach(exchange.getResponseHeaders()::set);
      exchange.sendResponseHeaders(reply.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Nobody answers any more. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      http.stop(0);
      threads.shutdownNow();
    }
  }
}
