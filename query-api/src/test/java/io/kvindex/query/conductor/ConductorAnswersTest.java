// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.SourceType;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.SeqHash;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rows a query is answered with. */
class ConductorAnswersTest extends ConductorFixture {

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

  private static String longest(HttpResponse<String> answer, String instance) {
    String start = "\"" + instance + "\":{\"longest_matched\":";
    int from = answer.body().indexOf(start) + start.length();
    return answer.body().substring(from, answer.body().indexOf(',', from));
  }
}
