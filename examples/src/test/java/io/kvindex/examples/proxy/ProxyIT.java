// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import static io.kvindex.examples.proxy.ProxyClient.instance;
import static io.kvindex.examples.proxy.ProxyClient.matched;
import static io.kvindex.examples.proxy.ProxyClient.prompt;
import static io.kvindex.examples.proxy.ProxyClient.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.examples.engine.SimulatedServer;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The proxy in front of three simulated vLLM servers, whose KV events travel over ZMQ and Kafka to
 * a real kvindex that it asks. What the engines report as cached is the judge.
 */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ProxyIT {

  private static final long SEED = TestSeed.of(ProxyIT.class);
  private static final int BLOCK = 16;
  private static final int LOAD_TOKENS = 64;

  private final Random random = new Random(SEED);
  private final Map<String, SimulatedServer> engines = new TreeMap<>();

  /** Engines that hold their streams after the first token, until the latch opens. */
  private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();

  private AllInOne index;
  private CacheAwareProxy proxy;
  private ProxyClient client;
  private ProxyClient indexClient;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    index = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    indexClient = new ProxyClient(index.uri());
    Map<String, URI> addresses = new TreeMap<>();
    for (String name : List.of("e-1", "e-2", "e-3")) {
      SimulatedServer engine =
          SimulatedServer.start(
              EngineOptions.vllm(name).blockSize(BLOCK).start(), 0, token -> pace(name, token));
      engines.put(name, engine);
      addresses.put(name, engine.uri());
      register(engine);
    }
    proxy = CacheAwareProxy.start(ProxySetup.of(LOAD_TOKENS, addresses, index.uri()).options());
    client = new ProxyClient(proxy.uri());
  }

  @AfterAll
  void stop() {
    proxy.close();
    engines.values().forEach(SimulatedServer::close);
    index.close();
  }

  @Test
  @Order(1)
  void shouldGoWhereThePrefixIs_whenItWasComputedThere() throws Exception {
    for (int round = 0; round < 6; round++) {
      int[] start = tokens(4 + round);
      HttpResponse<String> first = complete(start);
      assertThat(reason(first)).isEqualTo("no_match");
      awaitVisible(instance(first));
      int[] longer = Arrays.copyOf(start, start.length + 40);
      HttpResponse<String> second = complete(longer);
      assertThat(instance(second)).isEqualTo(instance(first));
      assertThat(reason(second)).isEqualTo("match");
      assertThat(matched(second)).isEqualTo(start.length);
      assertThat(cached(second)).isEqualTo(start.length);
    }
  }

  @Test
  @Order(2)
  void shouldGoToTheLongestMatch_whenSeveralHaveSome() throws Exception {
    int[] whole = tokens(12);
    for (Map.Entry<String, Integer> share : Map.of("e-1", 2, "e-2", 12, "e-3", 7).entrySet()) {
      compute(share.getKey(), Arrays.copyOf(whole, share.getValue() * BLOCK));
    }
    HttpResponse<String> response = complete(Arrays.copyOf(whole, whole.length + BLOCK));
    assertThat(instance(response)).isEqualTo("e-2");
    assertThat(matched(response)).isEqualTo(12 * BLOCK);
    assertThat(cached(response)).isEqualTo(12 * BLOCK);
  }

  /** 8 blocks cached are 128 tokens, a request in flight weighs 64. */
  @Test
  @Order(3)
  void shouldGoElsewhere_whenTheMatchIsNotWorthTheQueue() throws Exception {
    int[] shared = tokens(8);
    compute("e-3", shared);
    held.put("e-3", new CountDownLatch(1));
    List<HttpResponse<InputStream>> streams = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      ObjectNode body = prompt(with(shared, i)).put("stream", true);
      HttpResponse<InputStream> stream =
          client.post("/v1/completions", body, BodyHandlers.ofInputStream());
      assertThat(instance(stream)).isEqualTo("e-3");
      assertThat(new String(stream.body().readNBytes(6), "UTF-8")).isEqualTo("data: ");
      streams.add(stream);
    }
    HttpResponse<String> moved = client.complete(with(shared, 2));
    assertThat(instance(moved)).isNotEqualTo("e-3");
    assertThat(reason(moved)).isEqualTo("load");
    assertThat(matched(moved)).isZero();
    held.remove("e-3").countDown();
    for (HttpResponse<InputStream> stream : streams) {
      assertThat(new String(stream.body().readAllBytes(), "UTF-8")).endsWith("data: [DONE]\n\n");
    }
    assertThat(reason(complete(with(shared, 3)))).isEqualTo("match");
  }

  @Test
  @Order(4)
  void shouldAskTheEngineForTokens_whenThePromptIsText() throws Exception {
    String text = "the same words once more ".repeat(13) + "and an end";
    ObjectNode completion = ProxyClient.JSON.createObjectNode().put("model", ProxyClient.MODEL);
    completion.put("prompt", text);
    ObjectNode chat = ProxyClient.JSON.createObjectNode().put("model", ProxyClient.MODEL);
    chat.putArray("messages").addObject().put("role", "user").put("content", text);
    for (String path : List.of("/v1/completions", "/v1/chat/completions")) {
      ObjectNode body = path.contains("chat") ? chat : completion;
      HttpResponse<String> first = post(path, body);
      assertThat(reason(first)).as(path).isEqualTo("no_match");
      awaitVisible(instance(first));
      HttpResponse<String> second = post(path, body);
      assertThat(reason(second)).as(path).isEqualTo("match");
      assertThat(instance(second)).isEqualTo(instance(first));
      assertThat(matched(second)).isEqualTo(4 * BLOCK);
    }
  }

  @Test
  @Order(5)
  void shouldKeepSaltsApart_whenRequestsHaveThem() throws Exception {
    ObjectNode salted = prompt(tokens(5)).put("cache_salt", "tenant secret");
    HttpResponse<String> first = post("/v1/completions", salted);
    awaitVisible(instance(first));
    assertThat(reason(post("/v1/completions", salted))).isEqualTo("match");
    ObjectNode other = salted.deepCopy().put("cache_salt", "another");
    assertThat(reason(post("/v1/completions", other))).isEqualTo("no_match");
  }

  /** Events that were lost on the way and can not be had again. */
  @Test
  @Order(6)
  void shouldNotTrustAnInstance_whenItsEventsAreLost() throws Exception {
    try (SimulatedServer lossy =
            SimulatedServer.start(EngineOptions.vllm("e-4").blockSize(BLOCK).start(), 0, t -> {});
        CacheAwareProxy other =
            CacheAwareProxy.start(
                ProxySetup.of(1, Map.of("e-4", lossy.uri(), "e-1", address("e-1")), index.uri())
                    .options())) {
      ObjectNode registration = ProxySetup.registration(lossy, BLOCK);
      registration.remove("replay_endpoint");
      register(registration);
      awaitConnected("e-4");
      int[] shared = tokens(6);
      lossy.engine().prefill(shared, null, null);
      lossy.engine().flush();
      awaitVisible(lossy);
      ProxyClient through = new ProxyClient(other.uri());
      assertThat(instance(through.complete(with(shared, 1)))).isEqualTo("e-4");
      lossy.engine().prefill(tokens(1), null, null);
      lossy.engine().flushToReplayOnly();
      lossy.engine().prefill(tokens(1), null, null);
      lossy.engine().flush();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(reason(through.complete(with(shared, 2))))
                      .isEqualTo("index_degraded"));
    }
  }

  @Test
  @Order(7)
  void shouldSkipADeadEngine_whenItHadTheLongestMatch() throws Exception {
    int[] shared = tokens(8);
    compute("e-1", shared);
    assertThat(instance(complete(with(shared, 0)))).isEqualTo("e-1");
    engine("e-1").close();
    for (int i = 1; i <= 3; i++) {
      HttpResponse<String> response = complete(with(shared, i));
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(instance(response)).isNotEqualTo("e-1");
    }
    assertThat(client.get("/metrics")).contains("proxy_engine_refusals_total{engine=\"e-1\"} 1\n");
  }

  @Test
  @Order(8)
  void shouldGoByLoad_whenTheIndexIsStopped() throws Exception {
    int[] shared = tokens(8);
    compute("e-2", shared);
    assertThat(reason(complete(with(shared, 0)))).isEqualTo("match");
    index.close();
    List<String> used = new ArrayList<>();
    // Where nothing else tells, each goes to whoever got fewer requests so far.
    for (int i = 1; i <= 4 || i < 100 && !used.containsAll(List.of("e-2", "e-3")); i++) {
      HttpResponse<String> response = complete(with(shared, i));
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(reason(response)).isEqualTo("index_away");
      used.add(instance(response));
    }
    assertThat(used).contains("e-2", "e-3");
  }

  /** A request on its own: one that was just answered may still count as in flight. */
  private HttpResponse<String> complete(int... tokens) throws Exception {
    return post("/v1/completions", prompt(tokens));
  }

  private HttpResponse<String> post(String path, ObjectNode body) throws Exception {
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> proxy.engines().stream().allMatch(engine -> engine.inFlight() == 0));
    return client.post(path, body, BodyHandlers.ofString());
  }

  private void pace(String engine, int token) {
    CountDownLatch latch = held.get(engine);
    if (latch == null || token == 0) {
      return;
    }
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody released " + engine);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void compute(String engine, int[] tokens) throws Exception {
    engine(engine).engine().prefill(tokens, null, null);
    engine(engine).engine().flush();
    awaitVisible(engine);
  }

  private void awaitVisible(String engine) throws Exception {
    awaitVisible(engine(engine));
  }

  /** A question that kvindex answers when it has seen what the engine sent last. */
  private void awaitVisible(SimulatedServer server) throws Exception {
    ObjectNode body = ProxyClient.JSON.createObjectNode().put("model", ProxyClient.MODEL);
    body.putArray("token_ids");
    body.putObject("min_event")
        .put("instance_id", server.engine().options().name())
        .put("event_id", server.engine().lastSequence());
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> indexClient.post("/query", body, BodyHandlers.discarding()).statusCode() == 200);
  }

  private void awaitConnected(String engine) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              for (JsonNode worker : ProxyClient.JSON.readTree(indexClient.get("/workers"))) {
                if (worker.path("instance_id").asText().equals(engine)) {
                  return worker.at("/listeners/0/connected").asBoolean();
                }
              }
              return false;
            });
  }

  private void register(SimulatedServer engine) throws Exception {
    register(ProxySetup.registration(engine, BLOCK));
  }

  private void register(ObjectNode body) throws IOException, InterruptedException {
    HttpResponse<String> response = indexClient.post("/register", body, BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
  }

  private SimulatedServer engine(String name) {
    return Objects.requireNonNull(engines.get(name), name);
  }

  private URI address(String engine) {
    return engine(engine).uri();
  }

  private int[] tokens(int blocks) {
    return random.ints((long) blocks * BLOCK, 0, 100_000).toArray();
  }

  /** The tokens and a block more. */
  private static int[] with(int[] tokens, int last) {
    int[] longer = Arrays.copyOf(tokens, tokens.length + BLOCK);
    Arrays.fill(longer, tokens.length, longer.length, last);
    return longer;
  }

  private static int cached(HttpResponse<String> response) throws IOException {
    return ProxyClient.JSON
        .readTree(response.body())
        .at("/usage/prompt_tokens_details/cached_tokens")
        .asInt(-1);
  }
}
