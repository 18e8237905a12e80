// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.SkipReason;
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
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Engine events from their bytes to normal form, where samples do not show both engines or both
 * forms. Payloads come from an independent packer.
 */
class EngineFormsTest {

  private static final int SIZE = 4;
  private static final List<Long> TWO = List.of(11L, 12L);

  private enum Form {
    MAP,
    ARRAY
  }

  private record Engine(SourceType type, Form form) {}

  private static List<Engine> engines() {
    List<Engine> engines = new ArrayList<>();
    for (SourceType type : List.of(SourceType.VLLM, SourceType.SGLANG)) {
      for (Form form : Form.values()) {
        engines.add(new Engine(type, form));
      }
    }
    return engines;
  }

  @Test
  void shouldHashOneTokenMoreForEachBlock_whenTokensComeInPairs() {
    SeqHash rule = new SeqHash(1337);
    int[] tokens = IntStream.rangeClosed(0, 2 * SIZE).toArray();
    Hashes locals = Hashes.of(rule.local(tokens, 0, SIZE + 1), rule.local(tokens, SIZE, SIZE + 1));
    for (Engine engine : engines()) {
      List<List<Integer>> pairs =
          IntStream.range(0, 2 * SIZE).mapToObj(i -> List.of(i, i + 1)).toList();
      NormalisedBatch batch = normalise(engine, stored(engine, TWO, null, pairs, SIZE, null, null));
      KvEvent.Stored stored = onlyStored(batch);
      assertThat(stored.engineHashes()).as(engine.toString()).isEqualTo(Hashes.of(11, 12));
      assertThat(stored.localHashes()).isEqualTo(locals);
      assertThat(stored.parent()).isEqualTo(Parent.ROOT);
      assertThat(batch.remarks()).isEqualTo(Map.of(Remark.TOKENS_PAIRED, 1));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = SourceType.class,
      names = {"VLLM", "SGLANG"})
  void shouldTakeTheSaltFromIndex7_whenItIsAMap(SourceType type) {
    Engine engine = new Engine(type, Form.ARRAY);
    Object slot = Pack.map("priority", 3L, "cache_salt", "tenant-a");
    NormalisedBatch batch =
        normalise(engine, stored(engine, TWO, null, tokens(2 * SIZE), SIZE, null, slot));
    assertThat(onlyStored(batch).context())
        .isEqualTo(new StatedContext(null, null, null, "tenant-a"));
    Object empty = Pack.map("cache_salt", null);
    batch = normalise(engine, stored(engine, TWO, null, tokens(2 * SIZE), SIZE, null, empty));
    assertThat(onlyStored(batch).context()).isEqualTo(StatedContext.NONE);
  }

  @Test
  void shouldNameTheAdapterByItsNumber_whenNoNameIsSent() {
    for (Engine engine : engines()) {
      for (long id : new long[] {0, 7, -1, 1L << 31, Long.MAX_VALUE}) {
        NormalisedBatch batch =
            normalise(engine, stored(engine, TWO, 5L, tokens(2 * SIZE), SIZE, id, null));
        assertThat(onlyStored(batch).context())
            .as(engine + " " + id)
            .isEqualTo(id < 0 ? StatedContext.NONE : new StatedContext("id:" + id, id, null, null));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"7", "9", "1", "12", "0"})
  void shouldIndexByNameOnly_whenTokenCountsDoNotFit(int count) {
    for (Engine engine : engines()) {
      NormalisedBatch batch =
          normalise(engine, stored(engine, TWO, 5L, tokens(count), SIZE, null, null));
      KvEvent.Stored stored = onlyStored(batch);
      assertThat(stored.localHashes()).as(engine + " " + count).isEqualTo(Hashes.EMPTY);
      assertThat(stored.parent()).isEqualTo(Parent.of(5));
      assertThat(batch.remarks())
          .isEqualTo(count == 0 ? Map.of() : Map.of(Remark.TOKENS_UNUSABLE, 1));
    }
  }

  /** As llm-d's storage publisher and others send tokens: without a block size. */
  @Test
  void shouldIndexByTokens_whenNoBlockSizeIsStatedAndTheyFitTheRegisteredOne() {
    Hashes locals =
        Hashes.of(new SeqHash(1337).locals(IntStream.range(0, 2 * SIZE).toArray(), 8, SIZE));
    for (Engine engine : engines()) {
      List<Object> unsized = new ArrayList<>();
      unsized.add(stored(engine, TWO, 5L, tokens(2 * SIZE), 0, null, null));
      unsized.add(without(stored(engine, TWO, 5L, tokens(2 * SIZE), 0, null, null), false));
      if (engine.form() == Form.MAP) {
        unsized.add(without(stored(engine, TWO, 5L, tokens(2 * SIZE), 0, null, null), true));
      }
      for (Object event : unsized) {
        NormalisedBatch batch = normalise(engine, event);
        assertThat(onlyStored(batch).localHashes()).as(engine.toString()).isEqualTo(locals);
        assertThat(batch.remarks()).isEmpty();
        assertThat(batch.problem()).isNull();
      }
      List<List<Integer>> pairs =
          IntStream.range(0, SIZE).mapToObj(i -> List.of(i, i + 1)).toList();
      assertThat(
              onlyStored(normalise(engine, stored(engine, List.of(1L), 5L, pairs, 0, null, null)))
                  .localHashes()
                  .size())
          .as("pairs")
          .isEqualTo(1);
      NormalisedBatch other =
          normalise(engine, stored(engine, TWO, 5L, tokens(2 * SIZE + 2), 0, null, null));
      assertThat(onlyStored(other).localHashes()).isEqualTo(Hashes.EMPTY);
      assertThat(other.remarks()).isEqualTo(Map.of(Remark.TOKENS_UNUSABLE, 1));
    }
  }

  @SuppressWarnings("unchecked") // made here
  private static Object without(Object event, boolean absent) {
    if (event instanceof Map<?, ?> map) {
      ((Map<String, @Nullable Object>) map).put("block_size", null);
      if (absent) {
        map.remove("block_size");
      }
    } else {
      ((List<@Nullable Object>) event).set(4, null);
    }
    return event;
  }

  /** {@code --prefix-match-unit}: one hash for the beginning of a block. */
  @Test
  void shouldCountPartialBlocks_whenTheyAreSmallerThanTheRegisteredSize() {
    Normaliser normaliser = Normaliser.of(registration(SourceType.VLLM, HashProfile.XXH3_DEFAULT));
    for (int i = 0; i < 3; i++) {
      NormalisedBatch batch = normaliser.normalise(inGroup(List.of(9L), SIZE / 2));
      assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.PARTIAL_BLOCK, 1));
      assertThat(batch.problem()).isNull();
    }
    assertThat(normaliser.normalise(inGroup(TWO, SIZE)).events()).hasSize(1);
    for (int i = 0; i < 200; i++) {
      assertThat(normaliser.normalise(inGroup(List.of(9L), SIZE / 2)).problem())
          .as("beginnings of blocks that do come")
          .isNull();
    }
    assertThat(normaliser.normalise(inGroup(TWO, SIZE / 2)).problem())
        .as("more than one can not be a beginning")
        .startsWith("events have block_size " + SIZE / 2 + ",");
  }

  @Test
  void shouldSayMismatched_whenThereAreNothingButSmallBlocks() {
    Normaliser normaliser = Normaliser.of(registration(SourceType.VLLM, HashProfile.XXH3_DEFAULT));
    for (int i = 0; i < 100; i++) {
      normaliser.normalise(inGroup(List.of(9L), SIZE / 2));
    }
    assertThat(normaliser.normalise(inGroup(List.of(9L), SIZE / 2)).problem())
        .startsWith("events have block_size " + SIZE / 2 + ",");
  }

  private static EngineBatch inGroup(List<Long> hashes, int size) {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    Object event = stored(engine, hashes, null, tokens(hashes.size() * size), size, null, null);
    return decode(engine, "GPU", with(event, "group_idx", 0L));
  }

  /** Of somewhere else: a declared pool's, or nobody's; never the instance's. */
  @ParameterizedTest
  @CsvSource({"locality,REMOTE", "locality,remote", "ownership,kvcr", "ownership,KVCR"})
  void shouldKeepOffTheInstance_whenBlocksAreOfARemoteCache(String member, String value) {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    Object stored =
        with(stored(engine, TWO, null, tokens(2 * SIZE), SIZE, null, null), member, value);
    Object removed = with(removed(engine, TWO), member, value);
    NormalisedBatch nobodys = normalise(engine, "CPU", stored, removed);
    assertThat(nobodys.events()).isEmpty();
    assertThat(nobodys.skipped()).isEqualTo(Map.of(SkipReason.NOT_LOCAL, 2));
    NormalisedBatch pools =
        Normaliser.of(pooled(engine.type())).normalise(decode(engine, "GPU", stored, removed));
    assertThat(pools.events()).hasSize(1).allMatch(KvEvent.Taught.class::isInstance);
    assertThat(pools.skipped()).isEqualTo(Map.of(SkipReason.POOLED_TIER, 1));
    Object own = with(stored(engine, TWO, null, tokens(2 * SIZE), SIZE, null, null), member, "L");
    assertThat(normalise(engine, "CPU", own).events()).hasSize(member.equals("locality") ? 0 : 1);
  }

  @SuppressWarnings("unchecked") // made here
  private static Object with(Object event, String member, Object value) {
    ((Map<String, @Nullable Object>) event).put(member, value);
    return event;
  }

  private static Registration pooled(SourceType type) {
    Registration plain = registration(type, HashProfile.XXH3_DEFAULT);
    SourceOptions options = plain.options();
    return new Registration(
        plain.publisher(),
        plain.endpoint(),
        null,
        type,
        plain.table(),
        plain.loraNames(),
        null,
        new SourceOptions(
            options.copies(),
            null,
            "",
            java.util.Set.of(),
            LowerTier.parse("pool:p"),
            null,
            0,
            Map.of(),
            null,
            null,
            null,
            Map.of(),
            false),
        null);
  }

  /** A change of tier: blocks of that name are also there, whatever they mean. */
  @Test
  void shouldMoveKnownBlocks_whenAPlaceholderHasNoBlockSize() {
    for (Engine engine : engines()) {
      NormalisedBatch batch =
          normalise(engine, "CPU", stored(engine, TWO, null, List.of(), 0, null, null));
      KvEvent.Stored stored = onlyStored(batch);
      assertThat(stored.place()).as(engine.toString()).isEqualTo(new Place("CPU", 0, 0, null));
      assertThat(stored.parent()).isEqualTo(Parent.UNKNOWN);
      assertThat(stored.localHashes()).isEqualTo(Hashes.EMPTY);
      assertThat(batch.skipped()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"16", "32", "8"})
  void shouldReadDigestsAsTheirLastBytes_whenStoredAndRemoved(int length) {
    byte[] digest = new byte[length];
    for (int i = 0; i < length; i++) {
      digest[i] = (byte) (0xf0 + i);
    }
    long last = java.nio.ByteBuffer.wrap(digest, length - 8, 8).getLong();
    for (Engine engine : engines()) {
      NormalisedBatch batch =
          normalise(
              engine,
              stored(engine, List.of(digest), digest, tokens(SIZE), SIZE, null, null),
              removed(engine, List.of(digest, last)));
      assertThat(((KvEvent.Stored) batch.events().get(0)).engineHashes())
          .isEqualTo(Hashes.of(last));
      assertThat(((KvEvent.Stored) batch.events().get(0)).parent()).isEqualTo(Parent.of(last));
      assertThat(((KvEvent.Removed) batch.events().get(1)).engineHashes())
          .isEqualTo(Hashes.of(last, last));
    }
  }

  /** Each copy is an event of its own; the index counts them. */
  @Test
  void shouldPassEachCopy_whenABlockIsStoredAndRemovedTwice() {
    for (Engine engine : engines()) {
      Object stored = stored(engine, TWO, 5L, tokens(2 * SIZE), SIZE, null, null);
      Object removed = removed(engine, TWO);
      NormalisedBatch batch = normalise(engine, stored, stored, removed, removed);
      assertThat(batch.events())
          .extracting(event -> event.getClass().getSimpleName())
          .containsExactly("Stored", "Stored", "Removed", "Removed");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = SourceType.class,
      names = {"VLLM", "SGLANG"})
  void shouldPassCopiesLeft_whenTheyGoWithTheHashes(SourceType type) {
    Engine engine = new Engine(type, Form.MAP);
    Object fits =
        Pack.map(
            "type", "BlockRemoved", "block_hashes", TWO, "remaining_copy_counts", List.of(0L, 2L));
    Object not =
        Pack.map("type", "BlockRemoved", "block_hashes", TWO, "remaining_copy_counts", List.of(1L));
    NormalisedBatch batch = normalise(engine, fits, not);
    assertThat(((KvEvent.Removed) batch.events().get(0)).remainingCopies())
        .isEqualTo(Hashes.of(0, 2));
    assertThat(((KvEvent.Removed) batch.events().get(1)).remainingCopies()).isEqualTo(Hashes.EMPTY);
  }

  /**
   * LMCache's chunks are not the engine's blocks; one never removed must not stay on the device.
   */
  @ParameterizedTest
  @CsvSource({"cpu", "cuda:0", "cuda", "xpu:12"})
  void shouldSkipAndBlameNobody_whenLmcachesChunksHaveASizeOfTheirOwn(String medium) {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    for (int count : new int[] {256, 257}) {
      NormalisedBatch batch =
          normalise(
              engine, medium, stored(engine, List.of(-77L), null, tokens(count), 256, null, null));
      assertThat(batch.events()).isEmpty();
      assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
      assertThat(batch.problem()).isNull();
    }
    String own = "events have block_size 256,";
    assertThat(normalise(engine, stored(engine, TWO, null, tokens(512), 256, null, null)).problem())
        .startsWith(own);
  }

  @ParameterizedTest
  @CsvSource({"cpu", "cuda:0", "cuda", "xpu:12"})
  void shouldStayOffDeviceAndRoot_whenLmcachesChunksHaveTheRegisteredSize(String medium) {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    for (Long parent : new Long[] {null, 0L}) {
      for (int count : new int[] {SIZE, SIZE + 1}) {
        KvEvent.Stored stored =
            onlyStored(
                normalise(
                    engine,
                    medium,
                    stored(engine, List.of(-77L), parent, tokens(count), SIZE, null, null)));
        assertThat(stored.parent()).isEqualTo(Parent.UNKNOWN);
        assertThat(stored.place()).isEqualTo(new Place("cpu", 0, 0, null));
        assertThat(stored.engineHashes()).isEqualTo(Hashes.of(-77));
        assertThat(stored.localHashes().size()).isEqualTo(1);
      }
    }
    NormalisedBatch later =
        normalise(
            engine, medium, stored(engine, List.of(-78L), -77L, tokens(SIZE), SIZE, null, null));
    assertThat(onlyStored(later).parent()).isEqualTo(Parent.of(-77));
  }

  @Test
  void shouldReachWhatLmcacheStored_whenItsMediumIsRemovedOrCleared() {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    Object cleared = Pack.map("type", "AllBlocksCleared", "medium", "cuda:0");
    NormalisedBatch batch = normalise(engine, "cuda:0", removed(engine, TWO), cleared);
    assertThat(((KvEvent.Removed) batch.events().get(0)).place())
        .isEqualTo(new Place("cpu", 0, 0, null));
    assertThat(batch.events().get(1)).isEqualTo(new KvEvent.Cleared(0, ClearScope.ALL));
  }

  /** Its names are not the engine's prefix hashes, which says nothing about the profile. */
  @Test
  void shouldNotDoubtTheProfile_whenLmcacheNamesAPromptsFirstBlock() {
    Engine engine = new Engine(SourceType.VLLM, Form.MAP);
    Normaliser normaliser =
        Normaliser.of(
            registration(
                engine.type(), new HashProfile(HashProfile.Algorithm.VLLM_SHA256_CBOR, "0")));
    NormalisedBatch batch =
        normaliser.normalise(
            decode(
                engine,
                "cuda:0",
                stored(engine, List.of(-77L), null, tokens(SIZE), SIZE, null, null)));
    assertThat(batch.problem()).isNull();
  }

  private static KvEvent.Stored onlyStored(NormalisedBatch batch) {
    assertThat(batch.events()).hasSize(1);
    return (KvEvent.Stored) batch.events().get(0);
  }

  private static List<Integer> tokens(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  private static Object stored(
      Engine engine,
      List<?> hashes,
      @Nullable Object parent,
      List<?> tokens,
      int blockSize,
      @Nullable Long loraId,
      @Nullable Object slot7) {
    if (engine.form() == Form.MAP) {
      return Pack.map(
          "type", "BlockStored",
          "block_hashes", hashes,
          "parent_block_hash", parent,
          "token_ids", tokens,
          "block_size", blockSize,
          "lora_id", loraId);
    }
    List<@Nullable Object> event = new ArrayList<>();
    event.add("BlockStored");
    event.add(hashes);
    event.add(parent);
    event.add(tokens);
    event.add(blockSize);
    event.add(loraId);
    event.add("GPU");
    event.add(slot7);
    return event;
  }

  private static Object removed(Engine engine, List<?> hashes) {
    return engine.form() == Form.MAP
        ? Pack.map("type", "BlockRemoved", "block_hashes", hashes)
        : new ArrayList<Object>(List.of("BlockRemoved", hashes, "GPU"));
  }

  private static NormalisedBatch normalise(Engine engine, Object... events) {
    return normalise(engine, "GPU", events);
  }

  private static NormalisedBatch normalise(Engine engine, String medium, Object... events) {
    return Normaliser.of(registration(engine.type(), HashProfile.XXH3_DEFAULT))
        .normalise(decode(engine, medium, events));
  }

  @SuppressWarnings("unchecked") // made above
  private static EngineBatch decode(Engine engine, String medium, Object... events) {
    for (Object event : events) {
      if (event instanceof Map<?, ?> map) {
        ((Map<String, @Nullable Object>) map).putIfAbsent("medium", medium);
      } else {
        List<Object> array = (List<Object>) event;
        array.replaceAll(member -> "GPU".equals(member) ? medium : member);
      }
    }
    byte[] payload = Pack.bytes(List.of(1.5, List.of(events)));
    return (EngineBatch) EngineDecoder.forSource(engine.type()).decode(payload, SIZE);
  }

  private static Registration registration(SourceType type, HashProfile profile) {
    return new Registration(
        new PublisherId("e", "default", 0),
        "tcp://h:1",
        null,
        type,
        new TableId("default", "m", SIZE, profile),
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }
}
