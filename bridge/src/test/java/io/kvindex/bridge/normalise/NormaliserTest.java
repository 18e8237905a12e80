// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.WireVectors;
import io.kvindex.bridge.decode.WireVectors.Vector;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.openhft.hashing.LongHashFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class NormaliserTest {

  private static final int REGISTERED_RANK = 9;
  private static final long HASH_1 = 0x8aacae47f66585edL;
  private static final long HASH_2 = 0x71ce77cbc8124e3bL;
  private static final long HASH_3 = 0xb2858312b152c275L;

  static Stream<Vector> batches() {
    return WireVectors.all().stream()
        .filter(vector -> vector.complete() && vector.expected().has("events"));
  }

  @ParameterizedTest
  @MethodSource("batches")
  void shouldAccountForEveryEvent_whenAnyVector(Vector vector) {
    for (int blockSize : new int[] {2, 4, 8, 16, 256}) {
      EngineBatch batch = decode(vector, blockSize);
      int sent = batch.events().size() + batch.skipped().size();
      NormalisedBatch normal =
          Normaliser.of(registration(typeOf(vector), blockSize)).normalise(batch);
      int skipped = normal.skipped().values().stream().mapToInt(Integer::intValue).sum();
      assertThat(normal.events().size() + skipped).isEqualTo(sent);
      assertThat(normal.timestampMicros()).isEqualTo(batch.timestampMicros());
    }
  }

  private static SourceType typeOf(Vector vector) {
    return switch (vector.engine()) {
      case "rfc1527" -> SourceType.KV_EVENTS;
      case "mooncake" -> SourceType.MOONCAKE;
      default -> SourceType.VLLM;
    };
  }

  @ParameterizedTest
  @MethodSource("batches")
  void shouldHashEachBlocksTokens_whenTheyFit(Vector vector) {
    EngineBatch batch = decode(vector, 0);
    for (var event : batch.events()) {
      if (!(event instanceof io.kvindex.bridge.decode.EngineEvent.Stored stored)) {
        continue;
      }
      int blockSize = Math.max(1, stored.blockSize());
      List<KvEvent> events =
          Normaliser.of(registration(SourceType.VLLM, blockSize))
              .normalise(new EngineBatch(0, null, List.of(stored), List.of()))
              .events();
      if (!events.isEmpty()) {
        KvEvent.Stored normal = (KvEvent.Stored) events.get(0);
        boolean usable =
            stored.tokens().size() / blockSize == stored.hashes().size()
                && stored.tokens().size() - stored.hashes().size() * blockSize <= 1
                && stored.blockSize() > 0;
        assertThat(normal.localHashes())
            .isEqualTo(
                usable
                    ? hashBytes(
                        stored
                            .tokens()
                            .first(stored.tokens().size() - (stored.tokens().isBigram() ? 1 : 0)),
                        stored.hashes().size(),
                        blockSize,
                        stored.tokens().isBigram() ? 1 : 0)
                    : Hashes.EMPTY);
      }
    }
  }

  @Test
  void shouldGiveTheReferenceHashes_whenTokensAscend() {
    KvEvent.Stored stored = onlyStored("vllm_m_offload_chunk", registration(SourceType.VLLM, 16));
    assertThat(stored.engineHashes()).isEqualTo(Hashes.of(HASH_1, HASH_2, HASH_3));
    // from the reference C library, seed 1337, tokens 0..47
    assertThat(stored.localHashes())
        .isEqualTo(
            Hashes.of(
                Long.parseUnsignedLong("15310707395893867146"),
                Long.parseUnsignedLong("15292316782987903195"),
                Long.parseUnsignedLong("5532946206955930018")));
    assertThat(stored.parent()).isEqualTo(Parent.ROOT);
    assertThat(stored.place()).isEqualTo(new Place("CPU", 0, 0, null));
  }

  @Test
  void shouldFillInTheRegistration_whenTheEventIsSilent() {
    Registration registration =
        registration(SourceType.VLLM, 16, List.of("ad1"), "prod", HashProfile.XXH3_DEFAULT);
    KvEvent.Stored stored = onlyStored("vllm_a1_stored_u64", registration);
    assertThat(stored.place()).isEqualTo(new Place(null, REGISTERED_RANK, 0, null));
    assertThat(stored.context()).isEqualTo(new StatedContext("ad1", null, "prod", null));
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "vllm_a1_lora_id, '', id:7, 7, -",
        "vllm_a1_lora_id, ad1, ad1, 7, -",
        "vllm_a3_lora_name, '', sql-adapter, 2, -",
        "vllm_a3_lora_name, ad1, sql-adapter, 2, -",
        "vllm_a4_extra_salt, '', -, -, tenant-a",
        "vllm_a4_extra_mm, '', ad1, -, salt",
        "sglang_a4_cache_salt, '', -, -, tenant-a",
      })
  void shouldStateTheContext_whenAdapterOrSaltIsSent(
      String vector, String registered, String lora, Long loraId, String salt) {
    Registration registration =
        registration(SourceType.VLLM, 16, List.of(registered), null, HashProfile.XXH3_DEFAULT);
    assertThat(onlyStored(vector, registration).context())
        .isEqualTo(new StatedContext(lora, loraId, null, salt));
  }

  @Test
  void shouldNotGuessTheAdapter_whenSeveralAreRegisteredAndOnlyItsNumberIsSent() {
    Registration registration =
        registration(SourceType.VLLM, 16, List.of("ad1", "ad2"), null, HashProfile.XXH3_DEFAULT);
    assertThat(onlyStored("vllm_a1_lora_id", registration).context().loraName()).isEqualTo("id:7");
    assertThat(onlyStored("vllm_a1_stored_u64", registration).context().loraName())
        .isEqualTo("ad1");
  }

  @Test
  void shouldMarkBlocksWithOtherKeys_whenMultimodal() {
    NormalisedBatch normal = normalise("vllm_a4_extra_mm", registration(SourceType.VLLM, 16));
    KvEvent.Stored stored = (KvEvent.Stored) normal.events().get(0);
    assertThat(stored.extraHashes().size()).isEqualTo(2);
    assertThat(stored.extraHashes().toArray()).doesNotContain(0).doesNotHaveDuplicates();
    assertThat(normal.remarks()).isEqualTo(Map.of(Remark.EXTRA_KEYS, 1));
  }

  @ParameterizedTest
  @CsvSource({
    "vllm_a1_stored_u64, ROOT",
    "vllm_a2_medium_rank, HASH",
    "vllm_m_offload_placeholder, UNKNOWN",
    "lmcache_off_by_one, UNKNOWN",
    "vllm_m_mooncake_tokens_nil, UNKNOWN",
    "llmd_fs_stored, UNKNOWN"
  })
  void shouldNeverTakeUnknownForTheRoot_whenParentIsMissing(String vector, Parent.Kind kind) {
    int blockSize = vector.startsWith("lmcache") ? 8 : 16;
    assertThat(onlyStored(vector, registration(SourceType.VLLM, blockSize)).parent().kind())
        .isEqualTo(kind);
  }

  @Test
  void shouldLeaveTheParentOpen_whenMooncakeConnectorStatesNone() {
    List<KvEvent> events =
        normalise("vllm_m_mooncake_connector", registration(SourceType.VLLM, 16)).events();
    assertThat(((KvEvent.Stored) events.get(0)).parent()).isEqualTo(Parent.UNKNOWN);
    assertThat(((KvEvent.Stored) events.get(0)).localHashes().size()).isEqualTo(1);
    assertThat(((KvEvent.Stored) events.get(1)).parent()).isEqualTo(Parent.of(HASH_1));
  }

  @Test
  void shouldUseTheTokensButTheLast_whenLmcacheSendsOneTooMany() {
    KvEvent.Stored stored = onlyStored("lmcache_off_by_one", registration(SourceType.VLLM, 8));
    int[] tokens = IntStream.range(0, 8).toArray();
    assertThat(stored.localHashes()).isEqualTo(hashBytes(tokens, 1, 8, 0));
  }

  @Test
  void shouldKeepResidency_whenTokensDoNotFit() {
    NormalisedBatch normal =
        normalise("bad_block_size_zero_with_tokens", registration(SourceType.VLLM, 8));
    KvEvent.Stored stored = (KvEvent.Stored) normal.events().get(0);
    assertThat(stored.localHashes()).isEqualTo(Hashes.EMPTY);
    assertThat(stored.engineHashes()).isEqualTo(Hashes.of(HASH_1));
    assertThat(normal.remarks()).isEqualTo(Map.of(Remark.TOKENS_UNUSABLE, 1));
    NormalisedBatch fits =
        normalise("bad_block_size_zero_with_tokens", registration(SourceType.VLLM, 16));
    assertThat(((KvEvent.Stored) fits.events().get(0)).localHashes().size()).isEqualTo(1);
    assertThat(fits.remarks()).isEmpty();
  }

  @Test
  void shouldSkipAndSaySo_whenBlockSizeIsNotTheRegistered() {
    NormalisedBatch normal = normalise("vllm_a2_medium_rank", registration(SourceType.VLLM, 32));
    assertThat(normal.events()).isEmpty();
    assertThat(normal.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(normal.problem()).startsWith("events have block_size 16,");
  }

  @Test
  void shouldIndexOnlyWholePrefixGroups_whenModelIsHybrid() {
    NormalisedBatch windowed =
        normalise("vllm_a6_sliding_window", registration(SourceType.VLLM, 16));
    assertThat(windowed.events()).hasSize(1);
    assertThat(windowed.skipped()).isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 1));

    NormalisedBatch three =
        normalise("vllm_m_hma_three_groups", registration(SourceType.VLLM, 256));
    assertThat(three.events()).filteredOn(KvEvent.Stored.class::isInstance).hasSize(1);
    assertThat(three.skipped())
        .isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 3)); // one is a removal
    assertThat(three.problem()).isNull();
  }

  @Test
  void shouldPassRemovalsOfAnyGroup_whenTheirStoresWereSkipped() {
    NormalisedBatch normal = normalise("vllm_a5_group", registration(SourceType.VLLM, 16));
    assertThat(normal.events())
        .containsExactly(
            new KvEvent.Removed(new Place("GPU", 0, 1, null), Hashes.of(HASH_1), Hashes.EMPTY));
    assertThat(normal.skipped()).isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 1));
  }

  @Test
  void shouldPassCopiesLeft_whenTheEngineCountsThem() {
    List<KvEvent> events =
        normalise("vllm_m_remaining_copies", registration(SourceType.VLLM, 16)).events();
    assertThat(events)
        .containsExactly(
            new KvEvent.Removed(
                new Place("GPU", 0, 0, null), Hashes.of(HASH_1, HASH_2), Hashes.of(0, 2)));
  }

  @ParameterizedTest
  @CsvSource({"VLLM, DEVICE", "SGLANG, DEVICE_AND_HOST", "MOONCAKE, ALL", "TENSORRT_LLM, ALL"})
  void shouldClearWhatTheEngineClears_whenOfThatType(SourceType type, ClearScope scope) {
    assertThat(normalise("vllm_m_cleared", registration(type, 16)).events())
        .containsExactly(new KvEvent.Cleared(0, scope));
  }

  @Test
  void shouldClearWhatIsRegistered_whenTheRegistrationSaysSo() {
    Registration all = clearing(ClearScope.ALL);
    assertThat(normalise("vllm_m_cleared", all).events())
        .containsExactly(new KvEvent.Cleared(0, ClearScope.ALL));
    assertThat(clears(all, List.of("AllBlocksCleared", "GPU")))
        .containsExactly(new KvEvent.Cleared(0, ClearScope.ALL));
    assertThat(clears(clearing(ClearScope.DEVICE_AND_HOST), List.of("AllBlocksCleared")))
        .containsExactly(new KvEvent.Cleared(0, ClearScope.DEVICE_AND_HOST));
  }

  /** Positional, which no release of vLLM or SGLang sends, but forks and wrappers do. */
  @Test
  void shouldClearTheNamedMedium_whenAPositionalClearNamesOne() {
    Registration sglang = registration(SourceType.SGLANG, 16);
    assertThat(clears(sglang, List.of("AllBlocksCleared", "GPU", 0)))
        .containsExactly(new KvEvent.Cleared(0, ClearScope.DEVICE));
    assertThat(clears(sglang, List.of("AllBlocksCleared", "CPU")))
        .containsExactly(new KvEvent.Cleared(0, ClearScope.ALL));
    assertThat(clears(sglang, List.of("AllBlocksCleared", 7)))
        .as("what else may stand there is no reason to keep dead blocks")
        .containsExactly(new KvEvent.Cleared(0, ClearScope.DEVICE_AND_HOST));
  }

  private static List<KvEvent> clears(Registration registration, List<Object> event) {
    byte[] payload = Pack.bytes(List.of(1.5, List.of(event), 0));
    EngineBatch batch =
        (EngineBatch)
            EngineDecoder.forSource(registration.type())
                .decode(payload, registration.table().blockSize());
    return Normaliser.of(registration).normalise(batch).events();
  }

  private static Registration clearing(ClearScope scope) {
    Registration plain = registration(SourceType.VLLM, 16);
    return new Registration(
        plain.publisher(),
        plain.endpoint(),
        null,
        plain.type(),
        plain.table(),
        plain.loraNames(),
        null,
        plain.options().withClearScope(scope),
        null);
  }

  @Test
  void shouldCountPairs_whenTokensOverlap() {
    NormalisedBatch normal = normalise("sglang_a_bigram", registration(SourceType.SGLANG, 4));
    assertThat(((KvEvent.Stored) normal.events().get(0)).localHashes().size()).isEqualTo(1);
    assertThat(normal.remarks()).isEqualTo(Map.of(Remark.TOKENS_PAIRED, 1));
  }

  private static KvEvent.Stored onlyStored(String vector, Registration registration) {
    List<KvEvent> events = normalise(vector, registration).events();
    assertThat(events).hasSize(1);
    return (KvEvent.Stored) events.get(0);
  }

  private static NormalisedBatch normalise(String name, Registration registration) {
    Vector vector =
        WireVectors.all().stream().filter(v -> v.name().equals(name)).findFirst().orElseThrow();
    return Normaliser.of(registration).normalise(decode(vector, registration.table().blockSize()));
  }

  private static EngineBatch decode(Vector vector, int blockSize) {
    var result = vector.decoder().decode(vector.payload(), blockSize);
    assertThat(result).isNotInstanceOf(BatchRejected.class);
    return (EngineBatch) result;
  }

  /** Another road to the same hash: little-endian bytes instead of ints. */
  private static Hashes hashBytes(int[] tokens, int blocks, int blockSize, int more) {
    long[] hashes = new long[blocks];
    for (int block = 0; block < blocks; block++) {
      ByteBuffer bytes =
          ByteBuffer.allocate((blockSize + more) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < blockSize + more; i++) {
        bytes.putInt(tokens[block * blockSize + i]);
      }
      hashes[block] = LongHashFunction.xx3(1337).hashBytes(bytes.array());
    }
    return Hashes.of(hashes);
  }

  private static Registration registration(SourceType type, int blockSize) {
    return registration(type, blockSize, List.of(""), null, HashProfile.XXH3_DEFAULT);
  }

  private static Registration registration(
      SourceType type,
      int blockSize,
      List<String> loras,
      @org.jspecify.annotations.Nullable String namespace,
      HashProfile profile) {
    return new Registration(
        new PublisherId("engine-1", "default", REGISTERED_RANK),
        "tcp://127.0.0.1:5557",
        null,
        type,
        new TableId("default", "model", blockSize, profile),
        loras,
        namespace,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }
}
