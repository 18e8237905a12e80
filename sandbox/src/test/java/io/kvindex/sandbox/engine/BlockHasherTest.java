// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BlockHasherTest {
  @Test
  void shouldEqualVllm_whenHashingTheVectors() {
    int cases = 0;
    for (JsonNode vector : Vectors.read("vllm-hash.json").get("cases")) {
      cases++;
      boolean cbor = vector.get("algorithm").asText().equals("sha256_cbor");
      BlockHasher hasher =
          (cbor ? EngineHashing.VLLM_SHA256_CBOR : EngineHashing.VLLM_SHA256)
              .hasher(0, vector.get("python_hash_seed").asText());
      String lora = vector.get("lora_name").asText();
      JsonNode salt = vector.get("cache_salt");
      CacheContext context =
          new CacheContext(lora.isEmpty() ? null : lora, salt.isNull() ? null : salt.asText());
      BlockHash hash = hasher.root(context);
      assertThat(hex(hash)).isEqualTo(vector.get("root_digest").asText());
      int[] tokens = Vectors.ints(vector.get("token_ids"));
      int blockSize = vector.get("block_size").asInt();
      for (int i = 0; i < vector.get("digests").size(); i++) {
        int[] block = Arrays.copyOfRange(tokens, i * blockSize, (i + 1) * blockSize);
        hash = hasher.next(hash, block, context, i == 0);
        assertThat(hex(hash)).isEqualTo(vector.get("digests").get(i).asText());
        assertThat(Long.toUnsignedString(hash.wire()))
            .isEqualTo(vector.get("low64_be").get(i).asText());
      }
    }
    assertThat(cases).isEqualTo(56);
  }

  @Test
  void shouldEqualVllmsWireIntegers_whenSeedIsTheDefaultOne() {
    int cases = 0;
    for (JsonNode vector : Vectors.read("engine-hashes.json").get("vllm")) {
      boolean plain = vector.get("extra").asText().equals("none");
      if (!plain
          || !vector.get("algo").asText().equals("sha256_cbor")
          || !vector.get("seed").asText().equals(VllmHasher.DEFAULT_SEED)) {
        continue;
      }
      cases++;
      assertWireInts(new VllmHasher(VllmHasher.DEFAULT_SEED), vector, null);
    }
    assertThat(cases).isPositive();
  }

  @Test
  void shouldEqualSglangsSignedIntegers_whenHashingPlainAndSaltedPages() {
    int cases = 0;
    for (JsonNode vector : Vectors.read("engine-hashes.json").get("sglang")) {
      if (vector.has("blocks")) {
        cases++;
        JsonNode salt = vector.get("cache_salt");
        assertWireInts(new SglangHasher(), vector, salt.isNull() ? null : salt.asText());
      }
    }
    assertThat(cases).isEqualTo(2);
  }

  @Test
  void shouldNeverRepeatANumber_whenRandom() {
    BlockHasher hasher = EngineHashing.RANDOM.hasher(7, "");
    CacheContext context = new CacheContext(null, null);
    BlockHash root = hasher.root(context);
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      seen.add(hasher.next(root, new int[] {1, 2}, context, true).wire());
    }
    assertThat(seen).hasSize(10_000);
  }

  private static void assertWireInts(BlockHasher hasher, JsonNode vector, @Nullable String salt) {
    CacheContext context = new CacheContext(null, salt);
    BlockHash hash = hasher.root(context);
    for (int i = 0; i < vector.get("blocks").size(); i++) {
      hash = hasher.next(hash, Vectors.ints(vector.get("blocks").get(i)), context, i == 0);
      assertThat(hash.wire())
          .isEqualTo(vector.get("wire_ints").get(i).bigIntegerValue().longValue());
    }
  }

  private static String hex(BlockHash hash) {
    return HexFormat.of().formatHex(hash.digest());
  }
}
