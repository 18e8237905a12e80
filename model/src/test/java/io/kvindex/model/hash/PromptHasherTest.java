// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.hash.HashProfile.Algorithm;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class PromptHasherTest {

  private static final int[] ONE_TO_SIXTEEN = {
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
  };

  @Test
  void shouldEqualVllm_whenHashingEveryVector() throws IOException {
    int blocks = 0;
    for (JsonNode vector : read("vllm-hash.json").get("cases")) {
      VllmPromptHasher hasher =
          vllm(vector.get("algorithm").asText(), vector.get("python_hash_seed").asText());
      assertThat(hex(hasher.digest())).isEqualTo(vector.get("root_digest").asText());
      hasher.begin(vector.get("lora_name").asText(), text(vector.get("cache_salt")));
      int[] tokens = tokens(vector.get("token_ids"));
      int size = vector.get("block_size").asInt();
      assertThat(hasher.blocks(tokens.length, size)).isEqualTo(vector.get("digests").size());
      for (int i = 0; i < vector.get("digests").size(); i++) {
        long hash = hasher.next(tokens, i * size, size);
        assertThat(hex(hasher.digest())).isEqualTo(vector.get("digests").get(i).asText());
        assertThat(Long.toUnsignedString(hash)).isEqualTo(vector.get("low64_be").get(i).asText());
        blocks++;
      }
    }
    assertThat(blocks).isEqualTo(56 * 3);
  }

  @Test
  void shouldEqualVllmsWireIntegers_whenKeysAreAdapterOrSalt() throws IOException {
    Map<String, Integer> seen = new HashMap<>();
    for (JsonNode vector : read("engine-hashes.json").get("vllm")) {
      String algorithm = vector.get("algo").asText();
      String extra = vector.get("extra").asText();
      if (!algorithm.startsWith("sha256") || extra.equals("mm")) {
        continue; // algorithms and keys no profile covers
      }
      VllmPromptHasher hasher = vllm(algorithm, vector.get("seed").asText());
      assertThat(hex(hasher.digest())).isEqualTo(vector.get("none_hash").asText());
      String key = vector.get("extra_keys").get(0).path(0).asText();
      hasher.begin(extra.equals("lora") ? key : null, extra.startsWith("salt") ? key : null);
      assertChain(hasher, vector);
      seen.merge(algorithm, 1, Integer::sum);
    }
    assertThat(seen).isEqualTo(Map.of("sha256", 9, "sha256_cbor", 9));
  }

  /** What vLLM 0.32 itself computed; its keys are tagged, and only there has an adapter a path. */
  @Test
  void shouldEqualVllm032_whenKeysAreTagged() throws IOException {
    int tagged = 0;
    for (JsonNode vector : read("vllm-hash-tagged.json").get("cases")) {
      VllmPromptHasher hasher = vllm(vector.get("algorithm").asText(), vector.get("seed").asText());
      String lora = text(vector.get("lora_name"));
      String salt = text(vector.get("cache_salt"));
      int[] tokens = tokens(vector.get("token_ids"));
      int size = vector.get("block_size").asInt();
      hasher.beginTagged(lora, text(vector.get("lora_path")), salt);
      for (int i = 0; i < vector.get("digests").size(); i++) {
        hasher.next(tokens, i * size, size);
        assertThat(hex(hasher.digest())).isEqualTo(vector.get("digests").get(i).asText());
      }
      hasher.begin(lora, salt);
      hasher.next(tokens, 0, size);
      boolean plain = lora == null && salt == null;
      assertThat(hex(hasher.digest()).equals(vector.get("digests").get(0).asText()))
          .as("without adapter and salt both ways are one")
          .isEqualTo(plain);
      tagged += plain ? 0 : 1;
    }
    assertThat(tagged).isEqualTo(40);
  }

  @Test
  void shouldEqualTheReferenceEncoders_whenBlocksFillFramesAndNamesAreLong() throws IOException {
    int checked = 0;
    for (JsonNode vector : read("vllm-hash-shapes.json").get("cases")) {
      VllmPromptHasher hasher = vllm(vector.get("algorithm").asText(), vector.get("seed").asText());
      String lora = vector.get("lora_text").asText().repeat(vector.get("lora_repeat").asInt());
      hasher.begin(lora, vector.get("salt").asText());
      int[] tokens = new int[vector.get("tokens").asInt()];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = (int) (i * vector.get("multiplier").asLong() % vector.get("modulus").asLong());
      }
      int size = vector.get("block_size").asInt();
      for (int i = 0; i < vector.get("digests").size(); i++) {
        hasher.next(tokens, i * size, size);
        assertThat(hex(hasher.digest()))
            .as("%s, %s, block %d", vector.get("name"), vector.get("algorithm"), i)
            .isEqualTo(vector.get("digests").get(i).asText());
        checked++;
      }
    }
    assertThat(checked).isGreaterThan(100);
  }

  @Test
  void shouldEqualSglang_whenPagesArePlainSaltedOrPairs() throws IOException {
    JsonNode vectors = read("engine-hashes.json").get("sglang");
    for (int i = 0; i < 2; i++) {
      SglangPromptHasher hasher = new SglangPromptHasher(false);
      hasher.begin("any-adapter", text(vectors.get(i).get("cache_salt")));
      assertChain(hasher, vectors.get(i));
      hasher.begin(null, text(vectors.get(i).get("cache_salt")));
      assertChain(hasher, vectors.get(i));
    }
    SglangPromptHasher pairs = new SglangPromptHasher(true);
    assertThat(pairs.blocks(3, 2)).isEqualTo(1);
    assertThat(pairs.blocks(4, 2)).isEqualTo(1);
    assertThat(pairs.blocks(0, 2)).isZero();
    pairs.begin(null, null);
    pairs.next(new int[] {1, 2, 3}, 0, 2);
    assertThat(hex(pairs.digest())).isEqualTo(vectors.get(2).get("hashes").get(0).asText());
  }

  @Test
  void shouldEqualTheReferenceLibrary_whenXxh3HasNoAdapterAndNoSalt() throws IOException {
    for (JsonNode vector : read("seq-hash.json").get("cases")) {
      String seed = vector.get("seed").asText();
      int[] tokens = tokens(vector.get("token_ids"));
      int size = vector.get("block_size").asInt();
      for (Algorithm rule : new Algorithm[] {Algorithm.XXH3, Algorithm.XXH3_DYNAMO}) {
        PromptHasher hasher = PromptHasher.of(new HashProfile(rule, seed));
        hasher.begin("", null);
        for (int i = 0; i < vector.get("seq_hashes").size(); i++) {
          assertThat(Long.toUnsignedString(hasher.next(tokens, i * size, size)))
              .isEqualTo(vector.get("seq_hashes").get(i).asText());
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', '', 0, 4, 9143094415614847814",
    "adapter-a, '', 0, 4, 6665157333201000639",
    "adapter-a, '', 1, 4, 11381080598872079209",
    "'', tenant-a, 1, 4, 5738685477468498325",
    "adapter-a, tenant-a, 1, 4, 9967753091837871098",
  })
  void shouldEqualDynamosFigures_whenAdapterAndSaltAreInTheSeed(
      String lora, String salt, int firstToken, int size, String expected) {
    PromptHasher hasher = PromptHasher.of(HashProfile.of(Algorithm.XXH3_DYNAMO));
    hasher.begin(lora, salt);
    int[] tokens = {firstToken, firstToken + 1, firstToken + 2, firstToken + 3};
    assertThat(Long.toUnsignedString(hasher.next(tokens, 0, size))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "adapter-a, , 8842669519798868182",
    ", tenant-a, 1948188790972764086",
    "adapter-a, tenant-a, 10790858310771630931",
  })
  void shouldEqualDynamosSeeds_whenNamesAreAdded(
      @Nullable String lora, @Nullable String salt, String expected) {
    assertThat(Long.toUnsignedString(DynamoSeed.of(1337, lora, salt))).isEqualTo(expected);
  }

  @Test
  void shouldRollDynamosBlocksWithTheBaseSeed_whenAnAdapterIsNamed() {
    PromptHasher hasher = PromptHasher.of(HashProfile.of(Algorithm.XXH3_DYNAMO));
    hasher.begin("adapter-a", null);
    long first = hasher.next(ONE_TO_SIXTEEN, 0, 4);
    long second = hasher.next(ONE_TO_SIXTEEN, 4, 4);
    long local = new SeqHash(DynamoSeed.of(1337, "adapter-a", null)).local(ONE_TO_SIXTEEN, 4, 4);
    assertThat(second).isEqualTo(new SeqHash(1337).roll(first, local));
  }

  /**
   * Two contexts get different lookup keys, by their hashes or by what is xored in. (Adapter and
   * salt of one name are one first block to vLLM itself, so the names differ here.)
   */
  @ParameterizedTest
  @EnumSource
  void shouldKeepContextsApart_whenAnyNameDiffers(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    Map<Long, String> keys = new HashMap<>();
    for (String lora : new String[] {"", "a", "b"}) {
      for (String namespace : new String[] {"", "a", "b"}) {
        for (String salt : new String[] {"", "x", "y"}) {
          PromptHasher hasher = PromptHasher.of(profile);
          hasher.begin(lora, salt);
          for (int block = 0; block < 3; block++) {
            long key =
                hasher.next(ONE_TO_SIXTEEN, 4 * block, 4) ^ profile.context(lora, namespace, salt);
            String name = String.join("/", lora, namespace, salt, Integer.toString(block));
            assertThat(keys.put(key, name)).as(name).isNull();
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldAllocateNothingPerBlock_whenBuffersHaveGrown(Algorithm algorithm) {
    PromptHasher hasher = PromptHasher.of(HashProfile.of(algorithm));
    int[] tokens = new Random(7).ints(16 * 4_096).toArray();
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      hasher.begin("adapter", "salt");
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int block = 0; block < 4_096; block++) {
        hasher.next(tokens, 16 * block, 16);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).as("bytes for 4,096 blocks").isLessThan(4_096);
  }

  @Test
  void shouldRefuseSeeds_whenTheRuleHasNone() {
    assertThatThrownBy(() -> new HashProfile(Algorithm.SGLANG_SHA256, "7"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new HashProfile(Algorithm.VLLM_SHA256, ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(HashProfile.of(Algorithm.SGLANG_SHA256).label()).isEqualTo("sglang_sha256");
    assertThat(new HashProfile(Algorithm.VLLM_SHA256, "00").label()).isEqualTo("vllm_sha256:00");
  }

  private static VllmPromptHasher vllm(String algorithm, String seed) {
    return (VllmPromptHasher)
        PromptHasher.of(
            new HashProfile(Algorithm.byWireName("vllm_" + algorithm).orElseThrow(), seed));
  }

  private static void assertChain(PromptHasher hasher, JsonNode vector) {
    for (int i = 0; i < vector.get("blocks").size(); i++) {
      int[] tokens = tokens(vector.get("blocks").get(i));
      assertThat(hasher.next(tokens, 0, tokens.length))
          .isEqualTo(vector.get("wire_ints").get(i).bigIntegerValue().longValue());
    }
  }

  private static @Nullable String text(JsonNode node) {
    return node.isNull() ? null : node.asText();
  }

  private static String hex(byte[] digest) {
    return HexFormat.of().formatHex(digest);
  }

  private static JsonNode read(String name) throws IOException {
    try (InputStream in = PromptHasherTest.class.getResourceAsStream("/vectors/" + name)) {
      return new ObjectMapper().readTree(Objects.requireNonNull(in));
    }
  }

  private static int[] tokens(JsonNode node) {
    int[] tokens = new int[node.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) node.get(i).asLong();
    }
    return tokens;
  }
}
