// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The conductor dialect through real HTTP, on an index without streams. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConductorAnswersTest {
  private static final String ZERO =
      "{\"longest_matched\":0,\"GPU\":0,\"DP\":{\"0\":0},\"CPU\":0,\"DISK\":0}";
  private static final int[] SIX = {101, 15, 100, 55, 89, 63};

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Registered> registered = new ArrayList<>();
  private volatile BareIndex index = new BareIndex();
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;
  private HttpServer server;

  @BeforeAll
  void start() {
    ConductorAnswers[] answers = new ConductorAnswers[1];
    BareIndex[] built = new BareIndex[1];
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> {
              if (built[0] != index) {
                answers[0] = new ConductorAnswers(() -> snapshot, index);
                built[0] = index;
              }
              answers[0].answer(form, query, reply);
            },
            routes -> {},
            new SimpleMeterRegistry());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @BeforeEach
  void reset() {
    index = new BareIndex();
    registered.clear();
    snapshot = RegistrationSnapshot.EMPTY;
  }

  private void register(String instance, int rank, int blockSize) {
    register(instance, rank, blockSize, SourceType.VLLM, null);
  }

  private void register(
      String instance, int rank, int blockSize, SourceType type, @Nullable String namespace) {
    Registration registration =
        new Registration(
            new PublisherId(instance, "default", rank),
            "tcp://127.0.0.1:1",
            null,
            type,
            new TableId("default", "m", blockSize, HashProfile.XXH3_DEFAULT),
            List.of(""),
            namespace,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    registered.add(new Registered(registration, registered.size()));
    snapshot = RegistrationSnapshot.of(registered, Media.standard());
  }

  @Test
  void shouldGiveTheNumbersOfReference002_whenPoolHoldsCpuAndDisk() throws Exception {
    register("vllm-1", 0, 2);
    register("vllm-1", 1, 2);
    register("store", 0, 2, SourceType.MOONCAKE, null);
    index.store("vllm-1/0/GPU", 0, SIX, 2, 0, 1);
    index.store("vllm-1/1/GPU", 0, SIX, 2, 0);
    index.store("pool:store/0/CPU", 0, SIX, 2, 0, 1);
    index.store("pool:store/0/DISK", 0, SIX, 2, 0, 2);
    String row = "{\"longest_matched\":6,\"GPU\":4,\"DP\":{\"0\":4,\"1\":2},\"CPU\":4,\"DISK\":4}";
    assertThat(query("\"block_size\":2,", SIX).body())
        .isEqualTo("{\"default\":{\"vllm-1\":" + row + "}}");
  }

  @Test
  void shouldGiveTheNumbersOfReference000_whenRankOneOffloads() throws Exception {
    int[] prompt = IntStream.range(0, 256).toArray();
    register("vllm-prefill-node1", 0, 64);
    register("vllm-prefill-node1", 1, 64);
    index.store("vllm-prefill-node1/0/GPU", 0, prompt, 64, 0, 1);
    index.store("vllm-prefill-node1/1/CPU", 0, prompt, 64, 0, 1, 2, 3);
    assertThat(query("\"block_size\":64,", prompt).body())
        .isEqualTo(
            "{\"default\":{\"vllm-prefill-node1\":{\"longest_matched\":256,\"GPU\":128,"
                + "\"DP\":{\"0\":128,\"1\":256},\"CPU\":256,\"DISK\":0}}}");
  }

  @Test
  void shouldListZeroRows_whenNothingMatches() throws Exception {
    register("a", 0, 2);
    register("b", 0, 2);
    index.store("a/0/GPU", 0, SIX, 2, 0);
    String zeros = "{\"default\":{\"a\":" + ZERO + ",\"b\":" + ZERO + "}}";
    assertThat(query("\"block_size\":2,", new int[] {}).body()).isEqualTo(zeros);
    assertThat(query("\"block_size\":2,", new int[] {101}).body()).isEqualTo(zeros);
    assertThat(query("\"block_size\":2,", new int[] {1, 2}).body()).isEqualTo(zeros);
    assertThat(query("\"block_size\":2,\"lora_name\":\"x\",", SIX).body()).isEqualTo(zeros);
    assertThat(query("\"block_size\":2,\"lora_id\":9,", SIX).body()).isEqualTo(zeros);
    assertThat(query("\"block_size\":2,\"cache_salt\":\"x\",", SIX).body()).isEqualTo(zeros);
  }

  @Test
  void shouldAnswerTheBareTenant_whenNothingIsKnownByThatName() throws Exception {
    assertThat(query("\"block_size\":2,", SIX).body()).isEqualTo("{\"default\":{}}");
    register("a", 0, 2);
    assertThat(query("\"block_size\":4,", SIX).body()).isEqualTo("{\"default\":{}}");
    assertThat(query("\"block_size\":2,\"instance_id\":\"z\",", SIX).body())
        .isEqualTo("{\"default\":{}}");
    assertThat(query("\"block_size\":2,\"tenant_id\":\"a\\\"b\",", SIX).body())
        .isEqualTo("{\"a\\\"b\":{}}");
    assertThat(post("/query", "{\"model\":\"x\",\"token_ids\":[1]}").body())
        .isEqualTo("{\"default\":{}}");
  }

  @Test
  void shouldAnswerOnlyOneRow_whenInstanceIsNamed() throws Exception {
    register("a", 0, 2);
    register("b", 0, 2);
    index.store("b/0/GPU", 0, SIX, 2, 0, 1, 2);
    assertThat(query("\"block_size\":2,\"instance_id\":\"b\",", SIX).body())
        .isEqualTo(
            "{\"default\":{\"b\":{\"longest_matched\":6,\"GPU\":6,\"DP\":{\"0\":6},"
                + "\"CPU\":0,\"DISK\":0}}}");
  }

  @Test
  void shouldUseTheOnlyBlockSizeOrAskForOne_whenItIsAbsent() throws Exception {
    register("a", 0, 2);
    index.store("a/0/GPU", 0, SIX, 2, 0);
    assertThat(query("", SIX).body()).contains("\"longest_matched\":2");
    register("b", 0, 4);
    HttpResponse<String> answer = query("", SIX);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("2, 4").contains("\"field\":\"block_size\"");
  }

  @Test
  void shouldMatchNamespaceAndRequestSalt_whenCacheSaltIsGiven() throws Exception {
    register("spaced", 0, 2, SourceType.VLLM, "s");
    register("salted", 0, 2);
    register("plain", 0, 2);
    index.store("spaced/0/GPU", ContextHash.of(null, "s", null), SIX, 2, 0, 1);
    index.store("salted/0/GPU", ContextHash.of(null, null, "s"), SIX, 2, 0, 1, 2);
    index.store("plain/0/GPU", 0, SIX, 2, 0);
    assertThat(longest(query("\"block_size\":2,\"cache_salt\":\"s\",", SIX), "spaced"))
        .isEqualTo("4");
    assertThat(longest(query("\"block_size\":2,\"additionalsalt\":\"s\",", SIX), "salted"))
        .isEqualTo("6");
    assertThat(longest(query("\"block_size\":2,\"cache_salt\":\"s\",", SIX), "plain"))
        .isEqualTo("0");
    assertThat(longest(query("\"block_size\":2,\"cache_salt\":\"\",", SIX), "plain"))
        .isEqualTo("2");
    assertThat(longest(query("\"block_size\":2,", SIX), "spaced")).isEqualTo("0");
  }

  @Test
  void shouldResolvePerInstance_whenOnlyLoraIdIsGiven() throws Exception {
    for (String instance : List.of("a", "b", "c")) {
      register(instance, 0, 2);
    }
    index.learn("a", 7, "sql");
    index.learn("b", 7, "chat");
    for (String instance : List.of("a", "b")) {
      index.store(instance + "/0/GPU", ContextHash.of("sql", null, null), SIX, 2, 0, 1);
    }
    index.store("c/0/GPU", ContextHash.of("id:7", null, null), SIX, 2, 0);
    HttpResponse<String> answer = query("\"block_size\":2,\"lora_id\":7,", SIX);
    assertThat(longest(answer, "a")).isEqualTo("4");
    assertThat(longest(answer, "b")).isEqualTo("0");
    assertThat(longest(answer, "c")).isEqualTo("2");
    assertThat(longest(query("\"block_size\":2,\"lora_name\":\"sql\",", SIX), "b")).isEqualTo("4");
    assertThat(longest(query("\"lora_id\":-1,\"lora_name\":\"sql\",", SIX), "b")).isEqualTo("4");
  }

  @Test
  void shouldGiveTheSameAnswer_whenAskedByHash() throws Exception {
    register("a", 0, 2);
    index.store("a/0/GPU", 0, SIX, 2, 0, 1, 2);
    SeqHash hash = new SeqHash(1337);
    long[] seq = hash.rolled(hash.locals(SIX, SIX.length, 2));
    String byTokens = query("\"block_size\":2,", SIX).body();
    String unsigned =
        Arrays.toString(Arrays.stream(seq).mapToObj(Long::toUnsignedString).toArray());
    String hex =
        Arrays.stream(seq).mapToObj(h -> "\"0x" + Long.toHexString(h) + "\"").toList().toString();
    for (String list : List.of(unsigned, Arrays.toString(seq), hex)) {
      for (String name : List.of("seq_hashes", "block_hash")) {
        String body = "{\"model\":\"m\",\"block_size\":2,\"" + name + "\":" + list + "}";
        assertThat(post("/query_by_hash", body).body()).isEqualTo(byTokens);
      }
    }
  }

  @Test
  void shouldNameOtherMedia_whenTheyHoldSomething() throws Exception {
    register("a", 0, 2);
    register("b", 0, 2);
    index.store("a/0/npu", 0, SIX, 2, 0, 1);
    index.store("a/0/CPU_PINNED", 0, SIX, 2, 0);
    assertThat(query("\"block_size\":2,", SIX).body())
        .isEqualTo(
            "{\"default\":{\"a\":{\"longest_matched\":4,\"GPU\":0,\"DP\":{\"0\":4},\"CPU\":2,"
                + "\"DISK\":0,\"NPU\":4},\"b\":"
                + ZERO
                + "}}");
  }

  @Test
  void shouldListRanksNeverRegistered_whenTheyHoldBlocks() throws Exception {
    register("a", 0, 2);
    index.store("a/3/GPU", 0, SIX, 2, 0);
    assertThat(query("\"block_size\":2,", SIX).body()).contains("\"DP\":{\"0\":0,\"3\":2}");
  }

  @Test
  void shouldSayHowFarToTrustIt_whenIndexIsNotExact() throws Exception {
    register("a", 0, 2);
    assertThat(query("", SIX).headers().firstValue("X-KvIndex-State")).hasValue("exact");
    index.trust = Trust.STALE;
    index.lagMs = 1234;
    register("b\r\nX: y", 0, 2);
    register("*", 0, 2);
    index.degraded = Set.of(rank0("a"), rank0("b\r\nX: y"), rank0("*"));
    HttpResponse<String> answer = query("", SIX);
    assertThat(answer.headers().firstValue("X-KvIndex-State")).hasValue("stale");
    assertThat(answer.headers().firstValue("X-KvIndex-Lag-Ms")).hasValue("1234");
    assertThat(answer.headers().firstValue("X-KvIndex-Degraded")).hasValue("%2A,a,b%0D%0AX%3A+y");
    index.readable = false;
    assertThat(query("", SIX).statusCode()).isEqualTo(503);
    assertThat(query("", SIX).body()).contains("\"reason\":\"not_ready\"");
  }

  @Test
  void shouldNameAllThePoolServes_whenEventsOfAPoolAreLost() throws Exception {
    register("a", 0, 2);
    register("b", 0, 2);
    register("c", 0, 4);
    register("store", 0, 2, SourceType.MOONCAKE, null);
    assertThat(degraded("\"block_size\":2,")).isEmpty();
    index.degraded = Set.of(rank0("store"));
    assertThat(degraded("\"block_size\":2,")).hasValue("a,b,store");
    assertThat(query("\"block_size\":2,", SIX).headers().firstValue("X-KvIndex-State"))
        .hasValue("degraded");
    assertThat(degraded("\"block_size\":4,")).isEmpty();
    assertThat(query("\"block_size\":4,", SIX).headers().firstValue("X-KvIndex-State"))
        .hasValue("exact");
  }

  @Test
  void shouldSayAll_whenTheNamesAreTooManyForAHeader() throws Exception {
    for (int i = 0; i < 300; i++) {
      register("an-instance-with-a-name-" + i, 0, 2);
    }
    register("store", 0, 2, SourceType.MOONCAKE, null);
    index.degraded = Set.of(rank0("an-instance-with-a-name-7"));
    assertThat(degraded("")).hasValue("an-instance-with-a-name-7");
    index.degraded = Set.of(rank0("store"));
    assertThat(degraded("")).hasValue("*");
  }

  private Optional<String> degraded(String members) throws Exception {
    HttpResponse<String> answer = query(members, SIX);
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.headers().firstValue("X-KvIndex-Degraded");
  }

  private static PublisherId rank0(String instance) {
    return new PublisherId(instance, "default", 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"not json", "{", "[]", "\"x\"", "{\"model\":\"m\",\"token_ids\":[1,]}"})
  void shouldRefuseAndGoOn_whenBodyIsNoQuery(String body) throws Exception {
    register("a", 0, 2);
    HttpResponse<String> answer = post("/query", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).startsWith("{\"error\":\"").contains("\"reason\":\"invalid_json\"");
    assertThat(query("", SIX).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","block_size":2,"token_ids":[1,-1]}        ~ out_of_range ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":[4294967296]}  ~ out_of_range ~ token_ids ~ 0
          {"model":"m","block_size":2,"token_ids":[1,"2"]}       ~ invalid_type ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":[1,2.5]}       ~ invalid_type ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":{}}            ~ invalid_type ~ token_ids ~
          {"model":"m","block_size":2,"token_ids":null}          ~ missing ~ token_ids ~
          {"model":"m","block_size":2}                           ~ missing ~ token_ids ~
          {"block_size":2,"token_ids":[1]}                       ~ missing ~ model ~
          {"model":["m"],"token_ids":[1]}                        ~ invalid_type ~ model ~
          {"model":"m","block_size":0,"token_ids":[1]}           ~ out_of_range ~ block_size ~
          {"model":"m","block_size":1e9,"token_ids":[1]}         ~ invalid_type ~ block_size ~
          {"model":"m","block_size":1000000000,"token_ids":[1]}  ~ out_of_range ~ block_size ~
          """)
  void shouldNameFieldAndIndex_whenValueIsBad(
      String body, String reason, @Nullable String field, @Nullable Integer index)
      throws Exception {
    HttpResponse<String> answer = post("/query", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body())
        .startsWith("{\"error\":\"`" + field)
        .endsWith(
            "\"reason\":\""
                + reason
                + "\",\"field\":\""
                + field
                + "\""
                + (index == null ? "}" : ",\"index\":" + index + "}"));
  }

  private HttpResponse<String> query(String members, int[] tokens) throws Exception {
    return post(
        "/query", "{\"model\":\"m\"," + members + "\"token_ids\":" + Arrays.toString(tokens) + "}");
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static String longest(HttpResponse<String> answer, String instance) {
    String start = "\"" + instance + "\":{\"longest_matched\":";
    int from = answer.body().indexOf(start) + start.length();
    return answer.body().substring(from, answer.body().indexOf(',', from));
  }
}
