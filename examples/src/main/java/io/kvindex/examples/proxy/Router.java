// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides for each request: reads its prompt, asks kvindex, ranks the engines, and tries them in
 * that order until one answers. Thread-safe.
 */
final class Router implements AutoCloseable {

  private static final Set<String> PROMPT_PATHS = Set.of("/v1/completions", "/v1/chat/completions");
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(500);

  private final List<Engine> engines;
  private final int loadTokens;
  private final KvIndexClient index;
  private final PromptReader prompts;
  private final StallGuard guard;
  private final Forwarder forwarder;
  private final RouteCounters counters = new RouteCounters();

  Router(ProxyOptions options) {
    engines =
        options.engines().entrySet().stream()
            .map(engine -> new Engine(engine.getKey(), engine.getValue(), options.coolDown()))
            .toList();
    loadTokens = options.loadTokens();
    index =
        new KvIndexClient(
            options.index(), options.tenant(), options.blockSize(), options.deadline());
    HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
    prompts =
        new PromptReader(http, options.tokenizeTimeout(), options.baseModel(), options.adapters());
    guard = new StallGuard(options.engineTimeout());
    forwarder = new Forwarder(http, guard, options.engineTimeout());
  }

  /** See {@link KvIndexClient#warmUp}. */
  void warmUp() throws InterruptedException {
    index.warmUp();
  }

  List<Engine> engines() {
    return engines;
  }

  /** What was decided so far, as Prometheus text. */
  String metrics() {
    return counters.text(engines);
  }

  /**
   * Answers a request, by way of an engine.
   *
   * @return false if no engine answers; nothing was sent to the client then
   * @throws IOException if the answer broke off half-way: the client must be cut off
   */
  boolean route(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
    Prompt prompt = prompt(exchange, body);
    Matches matches = prompt == null ? Matches.unknown(Reason.NO_TOKENS) : index.ask(prompt);
    int tokens = prompt == null ? 0 : prompt.tokens().length;
    List<Candidate> candidates = Candidate.ranked(engines, matches, loadTokens);
    for (int i = 0; i < candidates.size(); i++) {
      Candidate candidate = candidates.get(i);
      Engine engine = candidate.engine();
      engine.begin();
      try {
        HttpResponse<InputStream> response =
            taken(exchange, body, engine, i == candidates.size() - 1);
        if (response != null) {
          Reason reason = matches.reasonFor(engine.instance());
          counters.routed(reason, tokens, candidate.matched());
          tell(exchange, candidate, reason);
          forwarder.relay(response, exchange);
          return true;
        }
      } finally {
        engine.end();
      }
    }
    counters.unanswered();
    return false;
  }

  /** The least loaded engine tokenizes. */
  private @Nullable Prompt prompt(HttpExchange exchange, byte[] body) throws InterruptedException {
    if (!PROMPT_PATHS.contains(exchange.getRequestURI().getPath())) {
      return null;
    }
    Matches none = Matches.unknown(Reason.NO_TOKENS);
    return prompts.read(body, Candidate.ranked(engines, none, loadTokens).get(0).engine());
  }

  /**
   * Tries one engine.
   *
   * @param last whether there is no other one to try: a refusal is the answer then
   * @return its answer, null if another engine should be tried
   */
  private @Nullable HttpResponse<InputStream> taken(
      HttpExchange exchange, byte[] body, Engine engine, boolean last)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> response = forwarder.send(exchange, body, engine);
    if (response != null && !Forwarder.isRefusal(response)) {
      return response;
    }
    engine.refused();
    if (response != null && !last) {
      response.body().close();
      return null;
    }
    return response;
  }

  private static void tell(HttpExchange exchange, Candidate candidate, Reason reason) {
    exchange.getResponseHeaders().set("X-Route-Instance", candidate.engine().instance());
    exchange.getResponseHeaders().set("X-Route-Reason", reason.text());
    exchange.getResponseHeaders().set("X-Route-Matched", String.valueOf(candidate.matched()));
  }

  @Override
  public void close() {
    guard.close();
  }
}
