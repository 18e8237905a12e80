// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.sandbox.engine.EngineHashing;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.EventForm;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.HostStoreForm;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each hash profile from engine to answer: whether events bring their tokens or not, every number
 * equals the engine's own cache, and no adapter and no salt ever sees blocks of another. The oracle
 * is a trie over token lists.
 */
@Tag("broker")
class HashProfileIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", 20_261_121L);
  private static final int PROMPTS = Integer.getInteger("kvindex.test.prompts", 20);
  private static final int BLOCK = 4;
  private static final @Nullable String[] ADAPTERS = {null, "sql", "chat"};
  private static final @Nullable String[] SALTS = {null, "tenant-a", "tenant-b"};

  private static AllInOne server;
  private static Api api;

  private final Random random = new Random(SEED);
  private final Truth truth = new Truth();
  private final List<Source> sources = new ArrayList<>();

  /**
   * An engine as registered.
   *
   * @param adapter the only one it serves, where its events do not say; else null
   */
  private record Source(SimulatedEngine engine, boolean namesAdapters, @Nullable String adapter) {

    /** What an answer for this adapter and salt must say of it. */
    Holdings holdings(int[] tokens, @Nullable String lora, @Nullable String salt) {
      if (namesAdapters) {
        return engine.holdings(tokens, lora, salt);
      }
      boolean served = java.util.Objects.equals(lora, adapter);
      return engine.holdings(served ? tokens : new int[0], null, salt);
    }
  }

  /** A profile, what it is called in a registration, and engines that hash so. */
  enum Case {
    XXH3("\"xxh3\"", EngineHashing.RANDOM, "0"),
    XXH3_DYNAMO("\"xxh3_dynamo\"", EngineHashing.RANDOM, "0"),
    VLLM_SHA256_CBOR("\"vllm_sha256_cbor\"", EngineHashing.VLLM_SHA256_CBOR, "vllm-none-hash"),
    VLLM_SHA256_CBOR_SEEDED(
        "{\"strategy\":\"vllm_v1\",\"algorithm\":\"sha256_cbor\",\"python_hash_seed\":\"00\","
            + "\"index_projection\":\"low64_be\"}",
        EngineHashing.VLLM_SHA256_CBOR,
        "00"),
    VLLM_SHA256("{\"algorithm\":\"vllm_sha256\",\"seed\":0}", EngineHashing.VLLM_SHA256, "0"),
    SGLANG_SHA256("\"sglang_sha256\"", EngineHashing.SGLANG_SHA256, "0");

    private final String json;
    private final EngineHashing hashing;
    private final String pythonHashSeed;

    Case(String json, EngineHashing hashing, String pythonHashSeed) {
      this.json = json;
      this.hashing = hashing;
      this.pythonHashSeed = pythonHashSeed;
    }

    boolean isSglang() {
      return hashing == EngineHashing.SGLANG_SHA256;
    }

    /** Whether events without tokens are enough. */
    boolean isEngineNamed() {
      return hashing != EngineHashing.RANDOM;
    }

    HashProfile profile() {
      String algorithm = name().replace("_SEEDED", "");
      HashProfile standard = HashProfile.of(HashProfile.Algorithm.valueOf(algorithm));
      return isEngineNamed() && !isSglang()
          ? new HashProfile(standard.algorithm(), pythonHashSeed)
          : standard;
    }
  }

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    api = new Api(server.uri());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** Unregistered as well: their ports may be those of the next test's engines. */
  @AfterEach
  void stopEngines() {
    for (Source source : sources) {
      ObjectNode body = Api.JSON.createObjectNode();
      body.put("instance_id", source.engine().options().name());
      api.post("/unregister", body);
      source.engine().close();
    }
  }

  @ParameterizedTest
  @EnumSource
  @Timeout(300)
  void shouldAnswerWhatTheEnginesHold_whenProfileIs(Case profile) throws Exception {
    startEngines(profile);
    for (int i = 0; i < PROMPTS; i++) {
      int[] tokens = prompt();
      String salt = SALTS[random.nextInt(SALTS.length)];
      Source source = sources.get(random.nextInt(sources.size()));
      String lora = source.namesAdapters() ? ADAPTERS[random.nextInt(ADAPTERS.length)] : null;
      source.engine().prefill(tokens, lora, salt);
      source.engine().flush();
      awaitVisible(source.engine());
      compareAll(profile, tokens);
    }
    assertThat(truth.nonZero())
        .as("hits among %d rows, seed %d", truth.compared(), SEED)
        .isGreaterThan(truth.compared() / 20)
        .isLessThan(truth.compared() * 9 / 10);
    assertThat(truth.hostOnly()).as("hits in host memory alone, seed %d", SEED).isPositive();
    for (Source source : sources) {
      assertThat(api.listener(source.engine().options().name()).path("state").asText())
          .isEqualTo("active");
    }
  }

  private void startEngines(Case profile) throws Exception {
    for (int i = 0; i < 4; i++) {
      String name = profile + "-" + i;
      EngineOptions options =
          profile.isSglang() ? EngineOptions.sglang(name) : EngineOptions.vllm(name);
      SimulatedEngine engine =
          options
              .blockSize(BLOCK)
              .form(i % 2 == 0 ? EventForm.MAP : EventForm.ARRAY)
              .hashing(profile.hashing)
              .pythonHashSeed(profile.pythonHashSeed)
              .deviceTokens(i < 2 || !profile.isEngineNamed())
              .hostStores(i == 0 ? HostStoreForm.TOKENS : HostStoreForm.PLACEHOLDER)
              .gpuBlocks(60)
              .hostBlocks(60)
              .start();
      String adapter = profile.isSglang() ? ADAPTERS[i % 3] : null;
      sources.add(new Source(engine, !profile.isSglang(), adapter));
      ObjectNode body = Api.registration(engine, engine.endpoint(), "default");
      body.put("type", profile.isSglang() ? "SGLang" : "vLLM").put("lora_name", adapter);
      body.put("modelname", profile.name());
      body.set("hash_profile", Api.JSON.readTree(profile.json));
      api.post("/register", body);
    }
  }

  /** Some of few beginnings, then anything: prompts that share prefixes of any length. */
  private int[] prompt() {
    int beginning = random.nextInt(3);
    int shared = random.nextInt(40);
    return IntStream.range(0, 20 + random.nextInt(60))
        .map(i -> i < shared ? 1_000_000_007 * (beginning + 3 * i) : random.nextInt())
        .toArray();
  }

  /** Every adapter with every salt, by tokens and by hashes. */
  private void compareAll(Case profile, int[] tokens) {
    for (String lora : ADAPTERS) {
      for (String salt : SALTS) {
        String about = profile + ", adapter " + lora + ", salt " + salt;
        JsonNode rows = query("/query", profile, lora, salt, "token_ids", ids(tokens));
        for (Source source : sources) {
          truth.check(rows, source.engine(), source.holdings(tokens, lora, salt), about);
        }
        ArrayNode hashes = hashes(profile.profile(), tokens, lora, salt);
        assertThat(query("/query_by_hash", profile, lora, salt, "seq_hashes", hashes))
            .as("by hash, %s", about)
            .isEqualTo(rows);
      }
    }
  }

  private static JsonNode query(
      String route,
      Case profile,
      @Nullable String lora,
      @Nullable String salt,
      String member,
      ArrayNode items) {
    ObjectNode body = Api.JSON.createObjectNode();
    body.put("model", profile.name()).put("lora_name", lora).put("cache_salt", salt);
    body.set(member, items);
    return api.post(route, body).path("default");
  }

  private static ArrayNode ids(int[] tokens) {
    ArrayNode ids = Api.JSON.createArrayNode();
    for (int token : tokens) {
      ids.add(Integer.toUnsignedLong(token));
    }
    return ids;
  }

  private static ArrayNode hashes(
      HashProfile profile, int[] tokens, @Nullable String lora, @Nullable String salt) {
    PromptHasher hasher = PromptHasher.of(profile);
    hasher.begin(lora, salt);
    ArrayNode hashes = Api.JSON.createArrayNode();
    for (int i = 0; i < tokens.length / BLOCK; i++) {
      hashes.add(Long.toUnsignedString(hasher.next(tokens, i * BLOCK, BLOCK)));
    }
    return hashes;
  }

  @Test
  @Timeout(120)
  void shouldSayWhatToRegister_whenTheSeedIsNotTheEngines() throws Exception {
    SimulatedEngine engine =
        EngineOptions.vllm("engine").blockSize(BLOCK).pythonHashSeed("0").start();
    sources.add(new Source(engine, true, null));
    ObjectNode body = Api.registration(engine, engine.endpoint(), "default");
    api.post("/register", body.put("hash_profile", "vllm_sha256"));
    int[] tokens = prompt();
    engine.prefill(tokens, null, null);
    engine.flush();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.listener("engine").path("state").asText().equals("mismatched"));
    String advice = "{\"algorithm\":\"vllm_sha256_cbor\",\"seed\":\"0\"}";
    assertThat(api.listener("engine").path("last_error").asText())
        .startsWith("hash_profile vllm_sha256:vllm-none-hash is not the engine's")
        .endsWith("register it with hash_profile " + advice);

    body.put("replace", true).set("hash_profile", Api.JSON.readTree(advice));
    api.post("/register", body);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(api.listener("engine").path("state").asText()).isEqualTo("active");
              truth.check(api.query("default", tokens, null, BLOCK), engine, tokens, null);
            });
    assertThat(truth.nonZero()).isPositive();
  }

  private static void awaitVisible(SimulatedEngine engine) {
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.visible(engine.options().name()) >= engine.lastSequence());
  }
}
