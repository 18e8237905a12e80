// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.normalise.Learned;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.hash.DynamoSeed;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.io.IOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** What becomes of vLLM's events under each hash profile, and of profiles that are not theirs. */
class HashProfileTest {

  private static final int[] TOKENS = {0, 1, 2, 3, 4, 5, 6, 7};
  private static final int SIZE = 4;

  private static BatchDecoder decoder(HashProfile profile, SourceType type) {
    return decoder(profile, type, new Learned());
  }

  private static BatchDecoder decoder(HashProfile profile, SourceType type, Learned learned) {
    return new EngineBatchDecoder(
        new Registration(
            new PublisherId("engine-1", "default", 0),
            "tcp://127.0.0.1:5557",
            null,
            type,
            new TableId("default", "model", SIZE, profile),
            List.of(""),
            null,
            SourceOptions.defaultFor(type),
            null),
        learned);
  }

  private static long[] engineHashes(
      HashProfile profile, @Nullable String lora, @Nullable String salt) {
    PromptHasher hasher = PromptHasher.of(profile);
    hasher.begin(lora, salt);
    return new long[] {hasher.next(TOKENS, 0, SIZE), hasher.next(TOKENS, SIZE, SIZE)};
  }

  /** A store as vLLM sends it, in map form. */
  private static final class Store {
    private long[] hashes = {7, 8};
    private @Nullable Long parent;
    private int[] tokens = TOKENS;
    private @Nullable String lora;
    private @Nullable Integer loraId;
    private List<String> firstKeys = List.of();
    private String medium = "GPU";
    private boolean pairs;

    Store hashes(long... value) {
      hashes = value;
      return this;
    }

    Store of(HashProfile profile) {
      return hashes(engineHashes(profile, lora, firstKeys.isEmpty() ? null : firstKeys.get(0)));
    }

    Store parent(long value) {
      parent = value;
      return this;
    }

    Store tokens(int... value) {
      tokens = value;
      return this;
    }

    Store pairs() {
      pairs = true;
      return this;
    }

    Store lora(String value) {
      lora = value;
      return this;
    }

    Store loraId(int value) {
      loraId = value;
      return this;
    }

    Store salt(String value) {
      firstKeys = List.of(value);
      return this;
    }

    Store firstKeys(String... values) {
      firstKeys = List.of(values);
      return this;
    }

    Store medium(String value) {
      medium = value;
      return this;
    }

    byte[] payload() {
      try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
        out.packArrayHeader(2).packDouble(1.5).packArrayHeader(1).packMapHeader(9);
        out.packString("type").packString("BlockStored");
        out.packString("block_hashes").packArrayHeader(hashes.length);
        for (long hash : hashes) {
          packHash(out, hash);
        }
        out.packString("parent_block_hash");
        packHash(out, parent);
        out.packString("token_ids");
        packTokens(out);
        out.packString("block_size").packInt(SIZE);
        out.packString("lora_id");
        if (loraId == null) {
          out.packNil();
        } else {
          out.packInt(loraId);
        }
        out.packString("medium").packString(medium);
        out.packString("lora_name");
        if (lora == null) {
          out.packNil();
        } else {
          out.packString(lora);
        }
        out.packString("extra_keys");
        packKeys(out);
        return out.toByteArray();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    private void packKeys(MessageBufferPacker out) throws IOException {
      out.packArrayHeader(hashes.length);
      for (int i = 0; i < hashes.length; i++) {
        List<String> keys = i == 0 ? firstKeys : List.of();
        if (lora == null && keys.isEmpty()) {
          out.packNil();
          continue;
        }
        out.packArrayHeader(keys.size() + (lora == null ? 0 : 1));
        if (lora != null) {
          out.packString(lora);
        }
        for (String key : keys) {
          out.packString(key);
        }
      }
    }

    private void packTokens(MessageBufferPacker out) throws IOException {
      int count = pairs ? tokens.length - 1 : tokens.length;
      out.packArrayHeader(count);
      for (int i = 0; i < count; i++) {
        if (pairs) {
          out.packArrayHeader(2).packInt(tokens[i]).packInt(tokens[i + 1]);
        } else {
          out.packInt(tokens[i]);
        }
      }
    }

    private static void packHash(MessageBufferPacker out, @Nullable Long hash) throws IOException {
      if (hash == null) {
        out.packNil();
      } else {
        out.packBigInteger(new BigInteger(Long.toUnsignedString(hash)));
      }
    }
  }

  private static Stored stored(BatchDecoder decoder, Store store) {
    return (Stored) decoder.decode(store.payload()).events().get(0);
  }

  private static @Nullable String mismatch(BatchDecoder decoder, Store store) {
    return decoder.decode(store.payload()).mismatch();
  }

  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256", "SGLANG_SHA256"})
  void shouldSendNamesOnly_whenTheEnginesHashIsThePrefixHash(Algorithm algorithm) {
    BatchDecoder decoder = decoder(HashProfile.of(algorithm), SourceType.VLLM);
    assertThat(stored(decoder, new Store()).localHashes()).isEqualTo(Hashes.EMPTY);
    assertThat(stored(decoder, new Store().tokens()).engineHashes()).isEqualTo(Hashes.wrap(7, 8));
    assertThat(stored(decoder, new Store().tokens(1, 2, 3)).engineHashes())
        .isEqualTo(Hashes.wrap(7, 8));
    assertThat(stored(decoder, new Store().hashes(7).tokens(1, 2, 3, 4, 5).pairs()).engineHashes())
        .isEqualTo(Hashes.wrap(7));
  }

  @Test
  void shouldSeedLocalHashes_whenTheProfileIsDynamos() {
    BatchDecoder decoder = decoder(HashProfile.of(Algorithm.XXH3_DYNAMO), SourceType.VLLM);
    assertThat(Long.toUnsignedString(stored(decoder, new Store()).localHashes().get(0)))
        .isEqualTo("9143094415614847814");
    Stored adapter = stored(decoder, new Store().lora("adapter-a"));
    assertThat(Long.toUnsignedString(adapter.localHashes().get(0)))
        .isEqualTo("6665157333201000639");
    assertThat(adapter.localHashes()).isEqualTo(locals("adapter-a", null));
    Stored both = stored(decoder, new Store().lora("adapter-a").salt("tenant-a"));
    assertThat(both.localHashes()).isEqualTo(locals("adapter-a", "tenant-a"));
  }

  @Test
  void shouldInheritTheSalt_whenOnlyTheFirstBlockStatedIt() {
    BatchDecoder decoder = decoder(HashProfile.of(Algorithm.XXH3_DYNAMO), SourceType.VLLM);
    decoder.decode(new Store().hashes(1, 2).salt("tenant-a").payload());
    decoder.decode(new Store().hashes(11, 12).salt("dynamo-cache-salt:tenant-b").payload());
    assertThat(stored(decoder, new Store().hashes(3, 4).parent(2)).localHashes())
        .isEqualTo(locals(null, "tenant-a"));
    assertThat(stored(decoder, new Store().hashes(5, 6).parent(4)).localHashes())
        .as("two stores below")
        .isEqualTo(locals(null, "tenant-a"));
    assertThat(stored(decoder, new Store().hashes(13, 14).parent(11)).localHashes())
        .isEqualTo(locals(null, "tenant-b"));
    assertThat(stored(decoder, new Store().hashes(23, 24).parent(99)).localHashes())
        .isEqualTo(locals(null, null));
  }

  @ParameterizedTest
  @EnumSource(names = {"XXH3", "XXH3_DYNAMO", "VLLM_SHA256"})
  void shouldRemark_whenASaltMayHaveBeenStatedBeforeTheBridgeCame(Algorithm algorithm) {
    boolean asks = algorithm == Algorithm.XXH3_DYNAMO;
    Learned learned = new Learned(List.of(), false);
    BatchDecoder later = decoder(HashProfile.of(algorithm), SourceType.VLLM, learned);
    Store below = new Store().hashes(3, 4).parent(2);
    Map<String, Long> remark = Map.of("unverified_salt", 1L);
    assertThat(later.decode(below.payload()).remarks()).isEqualTo(asks ? remark : Map.of());
    assertThat(later.decode(new Store().hashes(3, 4).payload()).remarks()).isEmpty();
    assertThat(later.decode(new Store().hashes(5, 6).parent(4).tokens().payload()).remarks())
        .as("nothing is hashed")
        .isEmpty();
    assertThat(later.decode(new Store().hashes(1, 2).salt("s").payload()).remarks()).isEmpty();
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
    return Hashes.wrap(rule.locals(TOKENS, TOKENS.length, SIZE));
  }

  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256", "SGLANG_SHA256"})
  void shouldBeContent_whenTheProfileIsTheEngines(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    BatchDecoder decoder = decoder(profile, SourceType.VLLM);
    assertThat(mismatch(decoder, new Store().of(profile))).isNull();
    assertThat(mismatch(decoder, new Store().salt("s").of(profile))).isNull();
    assertThat(mismatch(decoder, new Store().lora("ad").salt("s").of(profile))).isNull();
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
    String text = mismatch(decoder(wrong, SourceType.VLLM), new Store().lora("a").of(right));
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

  @Test
  void shouldNameTheSettings_whenNoKnownProfileFits() {
    BatchDecoder decoder = decoder(HashProfile.of(Algorithm.VLLM_SHA256), SourceType.VLLM);
    assertThat(mismatch(decoder, new Store()))
        .contains("--prefix-caching-hash-algo", "PYTHONHASHSEED", "xxh3");
  }

  @Test
  void shouldAskForPairs_whenAnSglangEngineDecodesSpeculatively() {
    HashProfile plain = HashProfile.of(Algorithm.SGLANG_SHA256);
    HashProfile bigram = new HashProfile(Algorithm.SGLANG_SHA256, HashProfile.BIGRAM);
    PromptHasher hasher = PromptHasher.of(bigram);
    hasher.begin(null, null);
    Store store = new Store().hashes(hasher.next(TOKENS, 0, 4)).tokens(0, 1, 2, 3, 4).pairs();
    assertThat(mismatch(decoder(bigram, SourceType.SGLANG), store)).isNull();
    assertThat(mismatch(decoder(plain, SourceType.SGLANG), store))
        .endsWith("{\"algorithm\":\"sglang_sha256\",\"seed\":\"bigram\"}");
    assertThat(mismatch(decoder(bigram, SourceType.SGLANG), new Store().of(plain)))
        .endsWith("{\"algorithm\":\"sglang_sha256\"}");
  }

  @Test
  void shouldStayMismatched_whenLaterBatchesCanNotTell() {
    HashProfile profile = HashProfile.of(Algorithm.VLLM_SHA256_CBOR);
    BatchDecoder decoder = decoder(profile, SourceType.VLLM);
    assertThat(mismatch(decoder, new Store())).isNotNull();
    assertThat(mismatch(decoder, new Store().parent(8).hashes(9, 10))).isNotNull();
    assertThat(mismatch(decoder, new Store().tokens())).isNotNull();
    assertThat(mismatch(decoder, new Store().of(profile))).as("engine set right").isNull();
    assertThat(mismatch(decoder, new Store().parent(8).hashes(9, 10))).isNull();
  }

  @Test
  void shouldBlameNobody_whenABlockCanNotTell() {
    BatchDecoder decoder = decoder(HashProfile.of(Algorithm.VLLM_SHA256_CBOR), SourceType.VLLM);
    assertThat(mismatch(decoder, new Store().parent(5))).as("not at the root").isNull();
    assertThat(mismatch(decoder, new Store().tokens())).as("no tokens").isNull();
    assertThat(mismatch(decoder, new Store().tokens(1, 2, 3))).as("unusable tokens").isNull();
    assertThat(mismatch(decoder, new Store().firstKeys("img", "salt"))).as("extra keys").isNull();
    assertThat(mismatch(decoder, new Store().loraId(3))).as("adapter without name").isNull();
    assertThat(mismatch(decoder, new Store().medium("cpu"))).as("a store's own hash").isNull();
  }

  @ParameterizedTest
  @EnumSource(names = {"XXH3", "XXH3_DYNAMO"})
  void shouldNotAskForNames_whenTokensAreHashedHere(Algorithm algorithm) {
    BatchDecoder decoder = decoder(HashProfile.of(algorithm), SourceType.VLLM);
    assertThat(mismatch(decoder, new Store())).isNull();
  }
}
