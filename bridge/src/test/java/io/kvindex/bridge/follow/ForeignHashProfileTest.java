// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.VllmStore.TOKENS;
import static io.kvindex.bridge.follow.VllmStore.decoder;
import static io.kvindex.bridge.follow.VllmStore.engineHashes;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** How a profile is found not to be the engine's, and what to register instead. */
class ForeignHashProfileTest {

  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256", "SGLANG_SHA256"})
  void shouldBeContent_whenTheProfileIsTheEngines(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    PayloadDecoder decoder = decoder(profile, SourceType.VLLM);
    assertThat(mismatch(decoder, new VllmStore().of(profile))).isNull();
    assertThat(mismatch(decoder, new VllmStore().salt("s").of(profile))).isNull();
    assertThat(mismatch(decoder, new VllmStore().lora("ad").salt("s").of(profile))).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "VLLM_SHA256_CBOR, vllm-none-hash, VLLM_SHA256, vllm-none-hash",
    "VLLM_SHA256, vllm-none-hash, VLLM_SHA256_CBOR, vllm-none-hash",
    "VLLM_SHA256, vllm-none-hash, VLLM_SHA256, 0",
    "VLLM_SHA256_CBOR, 77, VLLM_SHA256, 77",
    "VLLM_SHA256_CBOR, vllm-none-hash, SGLANG_SHA256, ''",
    "SGLANG_SHA256, '', VLLM_SHA256, 0",
  })
  void shouldSayWhatToRegister_whenSeedOrAlgorithmAreWrong(
      Algorithm registered, String seed, Algorithm used, String usedSeed) {
    HashProfile wrong = new HashProfile(registered, seed);
    HashProfile right = new HashProfile(used, usedSeed);
    String text = mismatch(decoder(wrong, SourceType.VLLM), new VllmStore().lora("a").of(right));
    String seedText = usedSeed.isEmpty() ? "" : ",\"seed\":\"" + usedSeed + "\"";
    assertThat(text)
        .startsWith("hash_profile " + wrong.label() + " is not the engine's")
        .contains(Long.toUnsignedString(engineHashes(right, "a", null)[0]))
        .endsWith(
            "register it with hash_profile {\"algorithm\":\""
                + right.algorithm().wireName()
                + "\""
                + seedText
                + "}");
  }

  /** vLLM before 0.32 and since, with and without adapter and salt, Dynamo's mark before it too. */
  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256"})
  void shouldBeContent_whenKeysAreTagged(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    PayloadDecoder decoder =
        decoder(profile, SourceType.VLLM, new Learned(), Map.of("ad", "/models/ad"));
    List<VllmStore> stores =
        List.of(
            new VllmStore().tagged(null).salt("s"),
            new VllmStore().tagged("/models/ad").lora("ad"),
            new VllmStore().lora("ad"),
            new VllmStore().tagged("/models/ad").lora("ad").salt("s"),
            new VllmStore().salt("dynamo-cache-salt:s"),
            new VllmStore().tagged("/models/ad").lora("ad").salt("dynamo-cache-salt:s"));
    for (VllmStore store : stores) {
      NormalisedBatch decoded = decoder.decode(store.of(profile).payload());
      assertThat(decoded.problem()).isNull();
      assertThat(decoded.notice()).isNull();
      Stored stored = (Stored) decoded.events().get(0);
      assertThat(stored.localHashes()).as("the names say it all").isEqualTo(Hashes.EMPTY);
      assertThat(stored.context().salt()).isIn(null, "s");
    }
  }

  @Test
  void shouldAskForThePath_whenAnAdaptersIsNotRegistered() {
    HashProfile profile = HashProfile.of(Algorithm.VLLM_SHA256);
    PayloadDecoder decoder =
        decoder(profile, SourceType.VLLM, new Learned(), Map.of("moved", "/before"));
    assertThat(mismatch(decoder, new VllmStore().of(profile))).isNull();
    NormalisedBatch first =
        decoder.decode(new VllmStore().tagged("/p").lora("ad").of(profile).payload());
    assertThat(first.problem()).as("the base model's prompts are found").isNull();
    assertThat(first.notice()).contains("adapter ad", "0.32", "register it in lora_paths");
    assertThat(((Stored) first.events().get(0)).localHashes().isEmpty()).isFalse();
    VllmStore moved = new VllmStore().tagged("/now").lora("moved").of(profile);
    assertThat(decoder.decode(moved.payload()).notice())
        .contains("adapter moved", "/before, which it is not");
    NormalisedBatch plain = decoder.decode(new VllmStore().of(profile).payload());
    assertThat(plain.notice()).as("said once").isNull();
    assertThat(((Stored) plain.events().get(0)).localHashes()).isEqualTo(Hashes.EMPTY);
  }

  @Test
  void shouldNameTheSettings_whenNoKnownProfileFits() {
    PayloadDecoder decoder = decoder(HashProfile.of(Algorithm.VLLM_SHA256), SourceType.VLLM);
    assertThat(mismatch(decoder, new VllmStore()))
        .contains("--prefix-caching-hash-algo", "PYTHONHASHSEED", "xxh3");
  }

  @Test
  void shouldAskForPairs_whenAnSglangEngineDecodesSpeculatively() {
    HashProfile plain = HashProfile.of(Algorithm.SGLANG_SHA256);
    HashProfile bigram = new HashProfile(Algorithm.SGLANG_SHA256, HashProfile.BIGRAM);
    PromptHasher hasher = PromptHasher.of(bigram);
    hasher.begin(null, null);
    VllmStore store =
        new VllmStore().hashes(hasher.next(TOKENS, 0, 4)).tokens(0, 1, 2, 3, 4).pairs();
    assertThat(mismatch(decoder(bigram, SourceType.SGLANG), store)).isNull();
    assertThat(mismatch(decoder(plain, SourceType.SGLANG), store))
        .endsWith("{\"algorithm\":\"sglang_sha256\",\"seed\":\"bigram\"}");
    assertThat(mismatch(decoder(bigram, SourceType.SGLANG), new VllmStore().of(plain)))
        .endsWith("{\"algorithm\":\"sglang_sha256\"}");
  }

  @Test
  void shouldStayMismatched_whenLaterBatchesCanNotTell() {
    HashProfile profile = HashProfile.of(Algorithm.VLLM_SHA256_CBOR);
    PayloadDecoder decoder = decoder(profile, SourceType.VLLM);
    assertThat(mismatch(decoder, new VllmStore())).isNotNull();
    assertThat(mismatch(decoder, new VllmStore().parent(8).hashes(9, 10))).isNotNull();
    assertThat(mismatch(decoder, new VllmStore().tokens())).isNotNull();
    assertThat(mismatch(decoder, new VllmStore().of(profile))).as("engine set right").isNull();
    assertThat(mismatch(decoder, new VllmStore().parent(8).hashes(9, 10))).isNull();
  }

  @Test
  void shouldBlameNobody_whenABlockCanNotTell() {
    PayloadDecoder decoder = decoder(HashProfile.of(Algorithm.VLLM_SHA256_CBOR), SourceType.VLLM);
    assertThat(mismatch(decoder, new VllmStore().parent(5))).as("not at the root").isNull();
    assertThat(mismatch(decoder, new VllmStore().tokens())).as("no tokens").isNull();
    assertThat(mismatch(decoder, new VllmStore().tokens(1, 2, 3))).as("unusable tokens").isNull();
    assertThat(mismatch(decoder, new VllmStore().firstKeys("img", "salt")))
        .as("extra keys")
        .isNull();
    assertThat(mismatch(decoder, new VllmStore().loraId(3))).as("adapter without name").isNull();
    assertThat(mismatch(decoder, new VllmStore().medium("cpu"))).as("a store's own hash").isNull();
  }

  @ParameterizedTest
  @EnumSource(names = {"XXH3", "XXH3_DYNAMO"})
  void shouldNotAskForNames_whenTokensAreHashedHere(Algorithm algorithm) {
    PayloadDecoder decoder = decoder(HashProfile.of(algorithm), SourceType.VLLM);
    assertThat(mismatch(decoder, new VllmStore())).isNull();
  }

  private static @Nullable String mismatch(PayloadDecoder decoder, VllmStore store) {
    return decoder.decode(store.payload()).problem();
  }
}
