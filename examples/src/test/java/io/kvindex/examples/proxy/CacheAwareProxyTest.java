// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import static io.kvindex.examples.proxy.ProxyClient.instance;
import static io.kvindex.examples.proxy.ProxyClient.matched;
import static io.kvindex.examples.proxy.ProxyClient.prompt;
import static io.kvindex.examples.proxy.ProxyClient.reason;
import static io.kvindex.examples.proxy.StubHttp.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the proxy does with each thing kvindex and engines may say, or not say. */
@Timeout(60)
class CacheAwareProxyTest {

  private static final String ROWS =
      "{\"default\":{\"a\":{\"longest_matched\":32},\"b\":{\"longest_matched\":64}}}";
  private static final Map<String, String> EXACT = Map.of("X-KvIndex-State", "exact");

  /** A request just answered may still count as in flight: that must not decide here. */
  private static final int LIGHT = 1;

  private StubHttp index;
  private StubHttp a;
  private StubHttp b;
  private CacheAwareProxy proxy;
  private ProxyClient client;

  @BeforeEach
  void start() throws Exception {
    index = new StubHttp(answer(200, ROWS, EXACT));
    a = new StubHttp(answer(200, "{\"from\":\"a\"}", Map.of("X-Engine", "a")));
    b = new StubHttp(answer(200, "{\"from\":\"b\"}", Map.of("X-Engine", "b")));
    use(setup(index.uri()));
  }

  @AfterEach
  void stop() {
    proxy.close();
    index.close();
    a.close();
    b.close();
  }

  private ProxySetup setup(URI... indexes) {
    return ProxySetup.of(LIGHT, Map.of("a", a.uri(), "b", b.uri()), indexes);
  }

  private void use(ProxySetup setup) throws Exception {
    if (proxy != null) {
      proxy.close();
    }
    proxy = CacheAwareProxy.start(setup.options());
    client = new ProxyClient(proxy.uri());
  }

  @Test
  void shouldPassTheAnswerOn_whenTheBestEngineGivesOne() throws Exception {
    HttpResponse<String> response = client.complete(1, 2, 3);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("{\"from\":\"b\"}");
    assertThat(response.headers().firstValue("X-Engine")).hasValue("b");
    assertThat(reason(response)).isEqualTo("match");
    assertThat(matched(response)).isEqualTo(64);
    assertThat(questions()).singleElement().hasToString("/query?tenant_id=default&model=m");
    assertThat(client.get("/metrics"))
        .contains("proxy_requests_total{reason=\"match\"} 1\n")
        .contains("proxy_prompt_tokens_total 3\n")
        .contains("proxy_engine_requests_total{engine=\"b\"} 1\n");
  }

  @Test
  void shouldGoByLoad_whenTheIndexIsAway() throws Exception {
    index.close();
    assertThat(reason(client.complete(1))).isEqualTo("index_away");
    Set<String> used = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      used.add(instance(client.complete(1)));
    }
    assertThat(used).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void shouldAskTheNextReplica_whenOneIsAway() throws Exception {
    try (StubHttp gone = new StubHttp(answer(200, ROWS, EXACT))) {
      use(setup(gone.uri(), index.uri()));
      gone.close();
      assertThat(reason(client.complete(1))).isEqualTo("match");
    }
  }

  @Test
  void shouldGoByLoad_whenTheIndexDoesNotAnswerInTime() throws Exception {
    use(setup(index.uri()).deadline(Duration.ofMillis(30)));
    CountDownLatch release = new CountDownLatch(1);
    index.handle(exchange -> await(release));
    long start = System.nanoTime();
    HttpResponse<String> response = client.complete(1);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    release.countDown();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(reason(response)).isEqualTo("index_late");
    index.handle(answer(503, "{\"reason\":\"deadline_exceeded\"}", Map.of("Retry-After", "1")));
    assertThat(reason(client.complete(1))).isEqualTo("index_late");
  }

  @Test
  void shouldLeaveTheIndexAlone_whenItSaysSo() throws Exception {
    for (int status : new int[] {429, 503}) {
      use(setup(index.uri()));
      index.handle(answer(status, "{\"reason\":\"x\"}", Map.of("Retry-After", "9999")));
      int before = questions().size();
      assertThat(reason(client.complete(1))).isEqualTo("index_refused");
      assertThat(reason(client.complete(1))).isEqualTo("index_refused");
      assertThat(questions()).as("%d", status).hasSize(before + 1);
    }
  }

  @Test
  void shouldNotTrustNumbers_whenTheHeadersSayTheyMayBeWrong() throws Exception {
    index.handle(answer(200, ROWS, Map.of("X-KvIndex-State", "stale")));
    assertThat(reason(client.complete(1))).isEqualTo("index_stale");
    index.handle(answer(200, ROWS, degraded("b,c")));
    HttpResponse<String> response = client.complete(1);
    assertThat(instance(response)).isEqualTo("a");
    assertThat(reason(response)).isEqualTo("match");
    for (String names : new String[] {"b,a", "*"}) {
      index.handle(answer(200, ROWS, degraded(names)));
      assertThat(reason(client.complete(1))).isEqualTo("index_degraded");
    }
    index.handle(answer(200, ROWS.replace("\"b\"", "\"b \\u00e9+\""), degraded("b%20%C3%A9+,%2A")));
    assertThat(instance(client.complete(1))).isEqualTo("a");
  }

  @Test
  void shouldSayThatNobodyHasAnything_whenThatIsSo() throws Exception {
    index.handle(answer(200, "{\"default\":{}}", EXACT));
    assertThat(reason(client.complete(1))).isEqualTo("no_match");
  }

  @Test
  void shouldTryAnotherEngine_whenTheBestOneRefuses() throws Exception {
    b.handle(answer(503, "busy", Map.of()));
    for (int i = 0; i < 3; i++) {
      HttpResponse<String> response = client.complete(1);
      assertThat(instance(response)).isEqualTo("a");
      assertThat(reason(response)).isEqualTo("load");
    }
    assertThat(b.asked("/v1/completions")).as("tried again while it cools down").hasSize(1);
  }

  @Test
  void shouldTryAnotherEngine_whenTheBestOneIsDead() throws Exception {
    b.close();
    for (int i = 0; i < 3; i++) {
      assertThat(instance(client.complete(1))).isEqualTo("a");
    }
    assertThat(client.get("/metrics")).contains("proxy_engine_refusals_total{engine=\"b\"} 1\n");
    a.close();
    HttpResponse<String> response = client.complete(1);
    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(response.body()).contains("no engine answers");
  }

  @Test
  void shouldPassTheLastRefusalOn_whenAllRefuse() throws Exception {
    HttpHandler busy = answer(429, "busy", Map.of("Retry-After", "3"));
    a.handle(busy);
    b.handle(busy);
    HttpResponse<String> response = client.complete(1);
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("Retry-After")).hasValue("3");
  }

  @Test
  void shouldStreamPieceByPiece_whenTheEngineDoes() throws Exception {
    CountDownLatch second = new CountDownLatch(1);
    b.handle(
        exchange -> {
          piece(exchange, "one\n");
          await(second);
          exchange.getResponseBody().write("two\n".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    HttpResponse<InputStream> response =
        client.post("/v1/completions", prompt(1), BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).isEqualTo("one");
      assertThat(proxy.engines().stream().mapToInt(Engine::inFlight).sum()).isEqualTo(1);
      second.countDown();
      assertThat(lines.readLine()).isEqualTo("two");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void shouldCutTheClientOff_whenTheEngineBreaksOff() {
    b.handle(
        exchange -> {
          piece(exchange, "half of it");
          throw new IOException("the engine dies");
        });
    assertThatThrownBy(() -> client.complete(1)).isInstanceOf(IOException.class);
  }

  @Test
  void shouldCutTheClientOff_whenTheEngineStalls() throws Exception {
    use(setup(index.uri()).engineTimeout(Duration.ofSeconds(1)));
    CountDownLatch end = new CountDownLatch(1);
    b.handle(
        exchange -> {
          piece(exchange, "half of it");
          await(end);
        });
    assertThatThrownBy(() -> client.complete(1)).isInstanceOf(IOException.class);
    assertThat(end.getCount()).isEqualTo(1);
    end.countDown();
  }

  @Test
  void shouldKeepItsLimits_whenRequestsAreTooManyOrTooLong() throws Exception {
    use(setup(index.uri()).strict());
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    b.handle(
        exchange -> {
          arrived.countDown();
          await(end);
          answer(200, "{}", Map.of()).handle(exchange);
        });
    assertThat(client.complete(new int[1_000]).statusCode()).isEqualTo(413);
    Thread first = new Thread(() -> complete(1));
    first.start();
    assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
    HttpResponse<String> refused = client.complete(1);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
    end.countDown();
    first.join();
  }

  @Test
  void shouldAskForAdapterAndSalt_whenTheRequestHasThem() throws Exception {
    use(setup(index.uri()).strict());
    ObjectNode body = prompt(1).put("model", "sql").put("cache_salt", "a b&c");
    client.post("/v1/completions", body, BodyHandlers.ofString());
    assertThat(questions())
        .last()
        .hasToString(
            "/query?tenant_id=default&model=base&block_size=16&lora_name=sql&cache_salt=a+b%26c");
  }

  @Test
  void shouldGoByLoad_whenThereIsNothingToAskAbout() throws Exception {
    ObjectNode text = ProxyClient.JSON.createObjectNode().put("prompt", "no tokenizer here");
    HttpResponse<String> response = client.post("/v1/completions", text, BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(reason(response)).isEqualTo("no_tokens");
    assertThat(a.asked("/tokenize").size() + b.asked("/tokenize").size()).isEqualTo(1);
    client.get("/v1/models");
    assertThat(a.asked("/v1/models").size() + b.asked("/v1/models").size()).isEqualTo(1);
    assertThat(questions()).isEmpty();
  }

  /** What kvindex was asked for requests' sake. */
  private List<URI> questions() {
    return index.asked("/query").stream()
        .filter(uri -> !uri.getQuery().contains("model=warm-up"))
        .toList();
  }

  private void complete(int token) {
    try {
      client.complete(token);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Map<String, String> degraded(String names) {
    return Map.of("X-KvIndex-State", "degraded", "X-KvIndex-Degraded", names);
  }

  private static void piece(HttpExchange exchange, String text) throws IOException {
    exchange.getRequestBody().readAllBytes();
    exchange.sendResponseHeaders(200, 0);
    exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
    exchange.getResponseBody().flush();
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(20, TimeUnit.SECONDS)) {
        throw new IOException("nobody released it");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
