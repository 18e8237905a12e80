// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.VllmStore.SIZE;
import static io.kvindex.bridge.follow.VllmStore.TOKENS;
import static io.kvindex.bridge.follow.VllmStore.decoder;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Remark;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.hash.DynamoSeed;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.SeqHash;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of vLLM's events under each hash profile. */
class HashProfileTest {

  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256", "SGLANG_SHA256"})
  void shouldSendNamesOnly_whenTheEnginesHashIsThePrefixHash(Algorithm algorithm) {
    PayloadDecoder decoder = decoder(HashProfile.of(algorithm), SourceType.VLLM);
    VllmStore own = new VllmStore().of(HashProfile.of(algorithm));
    assertThat(stored(decoder, own).localHashes()).isEqualTo(Hashes.EMPTY);
    assertThat(stored(decoder, new VllmStore().parent(3)).localHashes()).isEqualTo(Hashes.EMPTY);
    assertThat(stored(decoder, new VllmStore().tokens()).engineHashes()).isEqualTo(Hashes.of(7, 8));
    assertThat(stored(decoder, new VllmStore().tokens(1, 2, 3)).engineHashes())
        .isEqualTo(Hashes.of(7, 8));
  }

  /** As with another seed or algorithm than registered: the names are mere names. */
  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256", "SGLANG_SHA256"})
  void shouldHashTokens_whenTheProfileDoesNotExplainTheNames(Algorithm algorithm) {
    PayloadDecoder decoder = decoder(HashProfile.of(algorithm), SourceType.VLLM);
    assertThat(stored(decoder, new VllmStore().parent(3)).localHashes())
        .as("nobody knows yet")
        .isEqualTo(Hashes.EMPTY);
    assertThat(stored(decoder, new VllmStore()).localHashes()).isEqualTo(locals(null, null));
    assertThat(stored(decoder, new VllmStore().parent(8).hashes(9, 10)).localHashes())
        .isEqualTo(locals(null, null));
    assertThat(stored(decoder, new VllmStore().parent(8).hashes(9, 10).tokens()).localHashes())
        .isEqualTo(Hashes.EMPTY);
    decoder.decode(new VllmStore().hashes(11, 12).salt("s").payload());
    assertThat(stored(decoder, new VllmStore().parent(12).hashes(13, 14)).localHashes())
        .as("the salt is inherited")
        .isEqualTo(locals(null, "s"));
    VllmStore right = new VllmStore().of(HashProfile.of(algorithm));
    assertThat(stored(decoder, right).localHashes()).as("set right").isEqualTo(Hashes.EMPTY);
  }

  @Test
  void shouldHashTokensOfPairs_whenTheProfileHashesNone() {
    PayloadDecoder decoder = decoder(HashProfile.of(Algorithm.SGLANG_SHA256), SourceType.SGLANG);
    int[] tokens = {1, 2, 3, 4, 5};
    assertThat(stored(decoder, new VllmStore().hashes(7).tokens(tokens).pairs()).localHashes())
        .isEqualTo(Hashes.of(new SeqHash(1337).local(tokens, 0, 5)));
  }

  /** SGLang's names depend on when an adapter was loaded, which no event tells. */
  @Test
  void shouldHashTokens_whenAnAdapterIsInSglangsNamesAlone() {
    HashProfile profile = HashProfile.of(Algorithm.SGLANG_SHA256);
    PayloadDecoder decoder = decoder(profile, SourceType.SGLANG);
    VllmStore below = new VllmStore().lora("ad").hashes(9, 10).parent(8);
    assertThat(stored(decoder, below).localHashes())
        .as("also where the bridge came later")
        .isEqualTo(locals("ad", null));
    VllmStore first = new VllmStore().lora("ad").salt("s").hashes(7, 8);
    assertThat(stored(decoder, first).localHashes()).isEqualTo(locals("ad", "s"));
    assertThat(stored(decoder, below).localHashes()).isEqualTo(locals("ad", "s"));
    assertThat(stored(decoder, new VllmStore().of(profile)).localHashes())
        .as("the base model's are explained")
        .isEqualTo(Hashes.EMPTY);
    NormalisedBatch decoded = decoder.decode(new VllmStore().lora("ad").payload());
    assertThat(decoded.problem()).isNull();
    assertThat(decoded.notice()).isNull();
    VllmStore early = new VllmStore().lora("old").of(profile);
    assertThat(stored(decoder, early).localHashes())
        .as("a version that does not tell adapters apart")
        .isEqualTo(Hashes.EMPTY);
  }

  @Test
  void shouldSeedLocalHashes_whenTheProfileIsDynamos() {
    PayloadDecoder decoder = decoder(HashProfile.of(Algorithm.XXH3_DYNAMO), SourceType.VLLM);
    assertThat(Long.toUnsignedString(stored(decoder, new VllmStore()).localHashes().get(0)))
        .isEqualTo("9143094415614847814");
    Stored adapter = stored(decoder, new VllmStore().lora("adapter-a"));
    assertThat(Long.toUnsignedString(adapter.localHashes().get(0)))
        .isEqualTo("6665157333201000639");
    assertThat(adapter.localHashes()).isEqualTo(locals("adapter-a", null));
    Stored both = stored(decoder, new VllmStore().lora("adapter-a").salt("tenant-a"));
    assertThat(both.localHashes()).isEqualTo(locals("adapter-a", "tenant-a"));
  }

  @Test
  void shouldInheritTheSalt_whenOnlyTheFirstBlockStatedIt() {
    PayloadDecoder decoder = decoder(HashProfile.of(Algorithm.XXH3_DYNAMO), SourceType.VLLM);
    decoder.decode(new VllmStore().hashes(1, 2).salt("tenant-a").payload());
    decoder.decode(new VllmStore().hashes(11, 12).salt("dynamo-cache-salt:tenant-b").payload());
    assertThat(stored(decoder, new VllmStore().hashes(3, 4).parent(2)).localHashes())
        .isEqualTo(locals(null, "tenant-a"));
    assertThat(stored(decoder, new VllmStore().hashes(5, 6).parent(4)).localHashes())
        .as("two stores below")
        .isEqualTo(locals(null, "tenant-a"));
    assertThat(stored(decoder, new VllmStore().hashes(13, 14).parent(11)).localHashes())
        .isEqualTo(locals(null, "tenant-b"));
    assertThat(stored(decoder, new VllmStore().hashes(23, 24).parent(99)).localHashes())
        .isEqualTo(locals(null, null));
  }

  @ParameterizedTest
  @EnumSource(names = {"XXH3", "XXH3_DYNAMO", "VLLM_SHA256"})
  void shouldRemark_whenASaltMayHaveBeenStatedBeforeTheBridgeCame(Algorithm algorithm) {
    boolean asks = algorithm == Algorithm.XXH3_DYNAMO;
    Learned learned = new Learned(List.of(), false);
    PayloadDecoder later = decoder(HashProfile.of(algorithm), SourceType.VLLM, learned);
    VllmStore below = new VllmStore().hashes(3, 4).parent(2);
    Map<Remark, Integer> remark = Map.of(Remark.UNVERIFIED_SALT, 1);
    assertThat(later.decode(below.payload()).remarks()).isEqualTo(asks ? remark : Map.of());
    assertThat(later.decode(new VllmStore().hashes(3, 4).payload()).remarks()).isEmpty();
    assertThat(later.decode(new VllmStore().hashes(5, 6).parent(4).tokens().payload()).remarks())
        .as("nothing is hashed")
        .isEmpty();
    assertThat(later.decode(new VllmStore().hashes(1, 2).salt("s").payload()).remarks()).isEmpty();
    assertThat(later.decode(below.payload()).remarks()).as("known again").isEmpty();

    learned.forget(true);
    assertThat(later.decode(below.payload()).remarks())
        .as("blocks outlive the process that told their salt")
        .isEqualTo(asks ? remark : Map.of());
    learned.forget(false);
    assertThat(later.decode(below.payload()).remarks()).as("nothing was there before").isEmpty();
  }

  private static Hashes locals(@Nullable String lora, @Nullable String salt) {
    SeqHash rule = new SeqHash(DynamoSeed.of(1337, lora, salt));
    return Hashes.of(rule.locals(TOKENS, TOKENS.length, SIZE));
  }

  private static Stored stored(PayloadDecoder decoder, VllmStore store) {
    return (Stored) decoder.decode(store.payload()).events().get(0);
  }
}
