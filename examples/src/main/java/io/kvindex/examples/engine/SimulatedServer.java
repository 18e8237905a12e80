// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.sandbox.engine.Prefill;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP face of a simulated vLLM: {@code /v1/completions}, {@code /v1/chat/completions} and
 * {@code /tokenize}. A prompt goes through the engine's cache and its KV events are published; the
 * answer is the word "token" so often, and {@code usage} says how much of the prompt was cached.
 */
public final class SimulatedServer implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int THREADS = 32;
  private static final int DEFAULT_MAX_TOKENS = 8;

  private final SimulatedEngine engine;
  private final IntConsumer pace;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

  private SimulatedServer(SimulatedEngine engine, int port, IntConsumer pace) throws IOException {
    this.engine = engine;
    this.pace = pace;
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.setExecutor(threads);
    server.createContext("/v1/completions", this::complete);
    server.createContext("/v1/chat/completions", this::complete);
    server.createContext("/tokenize", this::tokenize);
    server.createContext("/health", exchange -> reply(exchange, JSON.createObjectNode()));
  }

  /**
   * Listens until closed; the engine is closed with it.
   *
   * @param port TCP port, 0 = any free one
   * @param pace called with a token's number before it is sent, and takes as long as that takes
   */
  public static SimulatedServer start(SimulatedEngine engine, int port, IntConsumer pace)
      throws IOException {
    SimulatedServer server = new SimulatedServer(engine, port, pace);
    server.server.start();
    return server;
  }

  /** Where it listens. */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** The engine behind. */
  public SimulatedEngine engine() {
    return engine;
  }

  private void tokenize(HttpExchange exchange) throws IOException {
    int[] tokens = ToyTokenizer.tokens(JSON.readTree(exchange.getRequestBody()));
    ObjectNode answer = JSON.createObjectNode().put("count", tokens.length);
    answer.put("max_model_len", 131_072).set("tokens", JSON.valueToTree(tokens));
    reply(exchange, answer);
  }

  private void complete(HttpExchange exchange) throws IOException {
    JsonNode request = JSON.readTree(exchange.getRequestBody());
    Prefill prefill =
        engine.prefill(ToyTokenizer.tokens(request), null, request.path("cache_salt").textValue());
    engine.flush();
    int length = request.path("max_tokens").asInt(DEFAULT_MAX_TOKENS);
    if (request.path("stream").asBoolean()) {
      stream(exchange, prefill, length);
    } else {
      IntStream.range(0, length).forEach(pace);
      reply(exchange, piece("token ".repeat(length), prefill, length));
    }
  }

  private void stream(HttpExchange exchange, Prefill prefill, int length) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    for (int i = 0; i < length; i++) {
      pace.accept(i);
      event(out, piece("token ", i == length - 1 ? prefill : null, length).toString());
    }
    event(out, "[DONE]");
    exchange.close();
  }

  private static void event(OutputStream out, String data) throws IOException {
    out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static ObjectNode piece(String text, @Nullable Prefill prefill, int length) {
    ObjectNode piece = JSON.createObjectNode().put("object", "text_completion");
    piece.putArray("choices").addObject().put("index", 0).put("text", text);
    if (prefill != null) {
      piece
          .putObject("usage")
          .put("prompt_tokens", prefill.promptTokens())
          .put("completion_tokens", length)
          .putObject("prompt_tokens_details")
          .put("cached_tokens", prefill.cachedTokens());
    }
    return piece;
  }

  private static void reply(HttpExchange exchange, JsonNode answer) throws IOException {
    byte[] bytes = JSON.writeValueAsBytes(answer);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    engine.close();
  }
}
