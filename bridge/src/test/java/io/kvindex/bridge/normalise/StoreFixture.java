// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RemovalScope;
import io.kvindex.model.registration.Shards;
import io.kvindex.model.registration.SourceOptions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A pool of blocks that is followed, as its store or its master tells of them. */
abstract class StoreFixture {

  static final String MASTER = "mooncake-master-0";
  static final String DIGEST = "db87cee52504ca5732bad49ddb1d5b8551c011c1891996d58aacae47f66585ed";
  static final long HASH = 0x8aacae47f66585edL;

  private @Nullable Normaliser normaliser;

  void register(@Nullable Shards shards, Map<String, String> addressTiers) {
    register(shards, addressTiers, new Learned());
  }

  void register(@Nullable Shards shards, Map<String, String> addressTiers, Learned learned) {
    normaliser = normaliser(shards, addressTiers, null, learned);
  }

  void registerGroups(@Nullable Shards shards, List<Integer> poolGroups) {
    normaliser = normaliser(shards, Map.of(), poolGroups, new Learned());
  }

  void registerRemovals(@Nullable RemovalScope scope, Learned learned) {
    normaliser =
        Normaliser.of(
            registration(SourceType.MOONCAKE, options(null, Map.of(), null, scope)), learned);
  }

  private static Normaliser normaliser(
      @Nullable Shards shards,
      Map<String, String> addressTiers,
      @Nullable List<Integer> poolGroups,
      Learned learned) {
    SourceOptions options = options(shards, addressTiers, poolGroups, null);
    return Normaliser.of(registration(SourceType.MOONCAKE, options), learned);
  }

  private static SourceOptions options(
      @Nullable Shards shards,
      Map<String, String> addressTiers,
      @Nullable List<Integer> poolGroups,
      @Nullable RemovalScope removals) {
    return new SourceOptions(
        CopyPolicy.SET,
        null,
        "",
        Set.of(),
        LowerTier.OWN,
        shards,
        0,
        addressTiers,
        poolGroups,
        null,
        removals,
        Map.of(),
        false);
  }

  static Registration registration(SourceType type, SourceOptions options) {
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

  NormalisedBatch master(Object... events) {
    return normalise(List.of(1_760_000_000_250L, List.of(events), 3));
  }

  NormalisedBatch normalise(Object batch) {
    DecodeResult result = EngineDecoder.MOONCAKE.decode(Pack.bytes(batch), 2);
    assertThat(result).isInstanceOf(EngineBatch.class);
    assertThat(normaliser).isNotNull();
    return Objects.requireNonNull(normaliser).normalise((EngineBatch) result);
  }

  static String key(int tp) {
    return "prod@org/llama@tp_rank:" + tp + "@pcp0@dcp0@pp_rank:0@group:0@" + DIGEST;
  }

  static KvEvent stored(String medium, int group, long hash, @Nullable String backend) {
    return new KvEvent.Stored(
        new Place(medium, 3, group, backend),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.of(hash),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  static KvEvent goneFrom(String medium, long hash) {
    return new KvEvent.Removed(new Place(medium, 3, 0, MASTER), Hashes.of(hash), Hashes.EMPTY);
  }

  static KvEvent gone(int group, long hash, @Nullable String backend) {
    return new KvEvent.Removed(new Place(null, 3, group, backend), Hashes.of(hash), Hashes.EMPTY);
  }
}
