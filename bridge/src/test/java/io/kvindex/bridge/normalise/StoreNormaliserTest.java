// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.MooncakeDecoder;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.normalise.NormalisedBatch.BlockSizeMismatch;
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
import io.kvindex.model.registration.Shards;
import io.kvindex.model.registration.SourceOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StoreNormaliserTest {

  private static final String MASTER = "mooncake-master-0";
  private static final String DIGEST =
      "db87cee52504ca5732bad49ddb1d5b8551c011c1891996d58aacae47f66585ed";
  private static final long HASH = 0x8aacae47f66585edL;

  private @Nullable Normaliser normaliser;

  @Test
  void shouldNameTheBlockOnly_whenAMasterStoresAndRemoves() {
    register(null, Map.of());
    NormalisedBatch batch =
        master(
            Pack.masterEvent(true, key(0), "cpu", "default", List.of()),
            Pack.masterEvent(true, "" + Long.toUnsignedString(HASH), "disk", "", List.of(HASH)),
            Pack.masterEvent(false, key(0), "cpu", "default", List.of()));
    assertThat(batch.events())
        .containsExactly(
            stored("cpu", 0, HASH, MASTER), stored("disk", 0, HASH, MASTER), gone(0, HASH, MASTER));
    assertThat(batch.timestampMicros()).isEqualTo(1_760_000_000_250_000L);
    assertThat(batch.skipped()).isEmpty();
    assertThat(batch.remarks())
        .isEqualTo(Map.of(Remark.UNVERIFIED_SHARDS, 1, Remark.UNVERIFIED_GROUP, 1));
  }

  @Test
  void shouldIndexTheGroupsDeclared_whenTheFirstIsNotTheOneWithEveryBlock() {
    register(Shards.of(2), List.of(1));
    NormalisedBatch batch = master(grouped(0, 0), grouped(1, 0), grouped(1, 1), grouped(11, 0));
    assertThat(batch.events())
        .containsExactly(stored("cpu", 0, HASH, MASTER), stored("cpu", 1, HASH, MASTER));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 2));
    assertThat(batch.remarks()).isEmpty();
  }

  /** Each of them has to hold the block: their objects are shards of it. */
  @Test
  void shouldNumberObjectsOfAllGroups_whenSeveralAreDeclared() {
    register(Shards.of(2), List.of(3, 0));
    NormalisedBatch batch =
        master(
            grouped(0, 0),
            grouped(0, 1),
            grouped(3, 0),
            grouped(3, 1),
            grouped(1, 0),
            Pack.masterEvent(true, key(0).replace("@group:0", ""), "cpu", "", List.of()),
            Pack.masterEvent(false, group(3, 1), "cpu", "", List.of()));
    assertThat(batch.events())
        .containsExactly(
            stored("cpu", 0, HASH, MASTER),
            stored("cpu", 1, HASH, MASTER),
            stored("cpu", 2, HASH, MASTER),
            stored("cpu", 3, HASH, MASTER),
            gone(3, HASH, MASTER));
    assertThat(batch.skipped())
        .isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 1, SkipReason.SHARD_MISMATCH, 1));

    register(null, List.of(0, 3));
    NormalisedBatch guess = master(grouped(0, 5), grouped(3, 6));
    assertThat(guess.events())
        .containsExactly(stored("cpu", 0, HASH, MASTER), stored("cpu", 1, HASH, MASTER));
    assertThat(guess.remarks()).isEqualTo(Map.of(Remark.UNVERIFIED_SHARDS, 2));
  }

  private static Object grouped(int group, int tp) {
    return Pack.masterEvent(true, group(group, tp), "cpu", "", List.of());
  }

  private static String group(int group, int tp) {
    return key(tp).replace("group:0", "group:" + group);
  }

  @Test
  void shouldCountEachReason_whenObjectsAreOfNoUse() {
    register(Shards.of(2), Map.of());
    NormalisedBatch batch =
        master(
            Pack.masterEvent(true, key(0).replace("llama", "qwen"), "cpu", "", List.of()),
            Pack.masterEvent(true, key(0).replace("group:0", "group:1"), "cpu", "", List.of()),
            Pack.masterEvent(true, key(0), "cpu", "acme", List.of()),
            Pack.masterEvent(true, "checkpoint/step-7.bin", "cpu", "", List.of()),
            Pack.masterEvent(true, key(2), "cpu", "", List.of()),
            Pack.masterEvent(true, "12345", "cpu", "", List.of(12345L)),
            Pack.masterEvent(true, key(1), "cpu", "", List.of()));
    assertThat(batch.events()).containsExactly(stored("cpu", 1, HASH, MASTER));
    assertThat(batch.skipped())
        .isEqualTo(
            Map.of(
                SkipReason.OTHER_MODEL, 1,
                SkipReason.ATTENTION_GROUP, 1,
                SkipReason.OTHER_TENANT, 1,
                SkipReason.UNPARSED_KEY, 1,
                SkipReason.SHARD_MISMATCH, 2));
    assertThat(batch.remarks()).isEqualTo(Map.of(Remark.UNVERIFIED_GROUP, 1));
  }

  @Test
  void shouldSaySo_whenAllThatStatesASizeHasAnother() {
    register(null, Map.of());
    BlockSizeMismatch wrong = new BlockSizeMismatch("cpu", 16);
    assertThat(master(Pack.masterEvent(true, key(0), "cpu", "", List.of())).mismatch()).isNull();
    NormalisedBatch batch = master(sized(key(0), 16), sized(key(1), 16));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 2));
    assertThat(batch.mismatch()).isEqualTo(wrong);
    assertThat(master(Pack.masterEvent(true, key(0), "cpu", "", List.of())).mismatch())
        .as("tells no size")
        .isEqualTo(wrong);
    assertThat(master(sized(key(0), 2)).mismatch()).as("some have it").isNull();
    NormalisedBatch others = master(sized(key(0), 16));
    assertThat(others.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(others.mismatch()).as("of another table that shares the store").isNull();
    assertThat(master(sized(key(0).replace("llama", "qwen"), 16)).mismatch()).isNull();
  }

  @Test
  void shouldNumberShardsWithoutGapsOrRepeats_whenDimensionsAreDeclared() {
    register(Shards.named(Map.of("tp", 3, "pp", 2, "kv", 2)), Map.of());
    List<Integer> numbers = new ArrayList<>();
    for (int tp = 0; tp < 3; tp++) {
      for (int pp = 0; pp < 2; pp++) {
        for (String kv : new String[] {"k", "v"}) {
          String key = "org-llama_" + DIGEST + "_" + tp + "_" + pp + "_" + kv;
          NormalisedBatch batch = master(Pack.masterEvent(true, key, "cpu", "", List.of()));
          numbers.add(((KvEvent.Stored) batch.events().get(0)).place().group());
        }
      }
    }
    assertThat(numbers).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    register(Shards.named(Map.of("pp", 2)), Map.of());
    NormalisedBatch pipeline =
        master(Pack.masterEvent(true, DIGEST + "_1_k", "cpu", "", List.of()));
    assertThat(((KvEvent.Stored) pipeline.events().get(0)).place().group()).isEqualTo(1);

    register(Shards.of(2), Map.of());
    NormalisedBatch guess = master(Pack.masterEvent(true, DIGEST + "_1_v", "cpu", "", List.of()));
    assertThat(((KvEvent.Stored) guess.events().get(0)).place().group()).isEqualTo(1);
    assertThat(guess.remarks()).isEqualTo(Map.of(Remark.UNVERIFIED_SHARDS, 1));
  }

  @Test
  void shouldTellMediaByAddress_whenEventsListReplicas() {
    register(null, Map.of("NVMe", "DISK", "obj://", "OBJ"));
    Hashes local = Hashes.wrap(new SeqHash(1337).locals(new int[] {1, 2}, 2, 2));
    List<Object> store = storeEvent();
    NormalisedBatch batch =
        normalise(
            List.of(
                List.of(
                    store,
                    List.of("BlockUpdateEvent", 1_760_000_001.0, "some-key", List.of("obj://x")),
                    List.of("BlockUpdateEvent", 1_760_000_001.0, "some-key", List.of()),
                    List.of("BlockUpdateEvent", 1_760_000_001.0, "unknown", List.of("a")),
                    List.of("RemoveAllEvent"))));
    assertThat(batch.timestampMicros()).isEqualTo(1_760_000_000_250_000L);
    assertThat(batch.events())
        .containsExactlyInAnyOrder(
            withLocal("CPU", local),
            withLocal("DISK", local),
            gone("OBJ"),
            stored("OBJ", 0, 7, null),
            gone("CPU"),
            gone("DISK"),
            gone(0, 7, null),
            new KvEvent.Cleared(3, ClearScope.ALL));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.UNPARSED_KEY, 1));
    assertThat(batch.doubtful()).as("nobody ever named the unknown key").isFalse();
  }

  @Test
  void shouldLeaveADoubt_whenAnObjectMayHaveBeenNamedBeforeTheBridgeCame() {
    Object moved = List.of("BlockUpdateEvent", 1_760_000_001.0, "some-key", List.of());
    register(null, Map.of(), new Learned(List.of(), false));
    assertThat(normalise(List.of(List.of(moved))).doubtful()).isTrue();
    Object foreign = Pack.masterEvent(false, "checkpoint/step-7.bin", "cpu", "", List.of());
    assertThat(master(foreign).doubtful()).as("its master never gave it a hash").isFalse();
  }

  @Test
  void shouldKnowNames_whenItsRegistrationWasChanged() {
    Learned learned = new Learned();
    register(null, Map.of(), learned);
    normalise(List.of(List.of(storeEvent())));
    register(null, Map.of(), learned);
    Object gone = List.of("BlockUpdateEvent", 1_760_000_001.0, "some-key", List.of());
    assertThat(normalise(List.of(List.of(gone))).events()).containsExactly(gone(0, 7, null));
  }

  @Test
  void shouldReadMapsOfTheSameEvents_whenKeysTellTheBlock() {
    register(null, Map.of());
    NormalisedBatch batch =
        normalise(
            Pack.map(
                "events",
                List.of(
                    Pack.map(
                        "type",
                        "BlockUpdateEvent",
                        "ts",
                        1.0,
                        "mooncake_key",
                        key(0),
                        "addr_list",
                        List.of("h:1")),
                    Pack.map(
                        "type",
                        "BlockUpdateEvent",
                        "ts",
                        1.0,
                        "mooncake_key",
                        key(0),
                        "addr_list",
                        List.of()))));
    assertThat(batch.events()).containsExactly(stored("CPU", 0, HASH, null), gone(0, HASH, null));
    assertThat(batch.timestampMicros()).isEqualTo(1_000_000);
  }

  @Test
  void shouldLeaveLowerTiersToThePool_whenAnEngineSaysSo() {
    SourceOptions options =
        new SourceOptions(
            CopyPolicy.COUNT,
            null,
            "",
            Set.of(),
            LowerTier.parse("pool:p"),
            null,
            0,
            Map.of(),
            null);
    Normaliser engine = new Normaliser(registration(SourceType.VLLM, options));
    DecodeResult batch =
        new io.kvindex.bridge.decode.VllmDecoder()
            .decode(
                Pack.bytes(
                    List.of(
                        1.0,
                        List.of(
                            engineStore("GPU", 7L),
                            engineStore("cpu", 8L),
                            List.of("BlockRemoved", List.of(8L), "cpu"),
                            List.of("BlockRemoved", List.of(7L), "GPU")))));
    NormalisedBatch normal = engine.normalise((EngineBatch) batch);
    assertThat(normal.events().get(0)).isInstanceOf(KvEvent.Stored.class);
    assertThat(normal.events().get(1))
        .isInstanceOfSatisfying(
            KvEvent.Taught.class,
            taught -> {
              assertThat(taught.blocks().engineHashes()).isEqualTo(Hashes.wrap(8));
              assertThat(taught.blocks().localHashes().size()).isEqualTo(1);
            });
    assertThat(normal.events().get(2)).isInstanceOf(KvEvent.Removed.class);
    assertThat(normal.events()).hasSize(3);
    assertThat(normal.skipped()).isEqualTo(Map.of(SkipReason.POOLED_TIER, 1));
  }

  @Test
  void shouldSuspectATier_whenMuchIsStoredAndNothingRemoved() {
    LowerTierWatch watch =
        new LowerTierWatch(
            registration(SourceType.VLLM, SourceOptions.defaultFor(SourceType.VLLM)));
    KvEvent some = many("cpu");
    assertThat(watch.suspects(List.of(many("GPU"), many("GPU"), many("GPU")))).isFalse();
    assertThat(watch.suspects(List.of(some))).isFalse();
    assertThat(watch.suspects(List.of(some))).isTrue();
    assertThat(watch.suspects(List.of(many("GPU")))).isFalse();
    KvEvent removed = new KvEvent.Removed(Place.of("cpu", 0), Hashes.wrap(1), Hashes.EMPTY);
    assertThat(watch.suspects(List.of(removed, some))).isFalse();
    assertThat(watch.suspects(List.of(some, some, some))).isFalse();
  }

  private static KvEvent many(String medium) {
    return new KvEvent.Stored(
        Place.of(medium, 0),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.wrap(new long[(int) LowerTierWatch.MANY / 2]),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private static List<@Nullable Object> engineStore(String medium, long hash) {
    return Arrays.asList("BlockStored", List.of(hash), 5L, List.of(1, 2), 2, null, medium);
  }

  private static String key(int tp) {
    return "prod@org/llama@tp_rank:" + tp + "@pcp0@dcp0@pp_rank:0@group:0@" + DIGEST;
  }

  private static Object sized(String key, int blockSize) {
    Map<String, @Nullable Object> event = Pack.masterEvent(true, key, "cpu", "", List.of());
    event.put("block_size", blockSize);
    return event;
  }

  private static KvEvent withLocal(String medium, Hashes local) {
    return new KvEvent.Stored(
        new Place(medium, 3, 0, null),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.wrap(7),
        local,
        Hashes.EMPTY);
  }

  private static KvEvent stored(String medium, int group, long hash, @Nullable String backend) {
    return new KvEvent.Stored(
        new Place(medium, 3, group, backend),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.wrap(hash),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private static KvEvent gone(int group, long hash, @Nullable String backend) {
    return new KvEvent.Removed(new Place(null, 3, group, backend), Hashes.wrap(hash), Hashes.EMPTY);
  }

  private static KvEvent gone(String medium) {
    return new KvEvent.Removed(new Place(medium, 3, 0, null), Hashes.wrap(7), Hashes.EMPTY);
  }

  private NormalisedBatch master(Object... events) {
    return normalise(List.of(1_760_000_000_250L, List.of(events), 3));
  }

  private NormalisedBatch normalise(Object batch) {
    DecodeResult result = new MooncakeDecoder().decode(Pack.bytes(batch));
    assertThat(result).isInstanceOf(EngineBatch.class);
    assertThat(normaliser).isNotNull();
    return java.util.Objects.requireNonNull(normaliser).normalise((EngineBatch) result);
  }

  private static List<Object> storeEvent() {
    return Arrays.asList(
        "BlockStoreEvent",
        1_760_000_000.25,
        "some-key",
        List.of("10.0.0.1:7000", "10.0.0.2/nvme0"),
        7L,
        0L,
        List.of(1, 2),
        2,
        "org/llama",
        "",
        -1);
  }

  private void register(@Nullable Shards shards, Map<String, String> addressTiers) {
    register(shards, addressTiers, new Learned());
  }

  private void register(@Nullable Shards shards, List<Integer> poolGroups) {
    normaliser =
        new Normaliser(
            registration(
                SourceType.MOONCAKE,
                new SourceOptions(
                    CopyPolicy.SET,
                    null,
                    "",
                    Set.of(),
                    LowerTier.OWN,
                    shards,
                    0,
                    Map.of(),
                    poolGroups)));
  }

  private void register(
      @Nullable Shards shards, Map<String, String> addressTiers, Learned learned) {
    normaliser =
        new Normaliser(
            registration(
                SourceType.MOONCAKE,
                new SourceOptions(
                    CopyPolicy.SET,
                    null,
                    "",
                    Set.of(),
                    LowerTier.OWN,
                    shards,
                    0,
                    addressTiers,
                    null)),
            learned);
  }

  private static Registration registration(SourceType type, SourceOptions options) {
    return new Registration(
        new PublisherId("pool-1", "default", 3),
        "tcp://127.0.0.1:5557",
        null,
        type,
        new TableId("default", "org/llama", 2, HashProfile.XXH3_DEFAULT),
        List.of(""),
        null,
        options,
        null);
  }
}
