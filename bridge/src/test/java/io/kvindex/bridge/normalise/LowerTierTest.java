// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.SourceOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What an engine's stores on other media than its device mean. */
class LowerTierTest {

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
            null,
            null,
            null,
            Map.of(),
            false);
    Normaliser engine = Normaliser.of(StoreFixture.registration(SourceType.VLLM, options));
    DecodeResult batch =
        EngineDecoder.VLLM.decode(
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
              assertThat(taught.blocks().engineHashes()).isEqualTo(Hashes.of(8));
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
            StoreFixture.registration(SourceType.VLLM, SourceOptions.defaultFor(SourceType.VLLM)));
    KvEvent some = many("cpu");
    assertThat(watch.suspects(List.of(many("GPU"), many("GPU"), many("GPU")))).isFalse();
    assertThat(watch.suspects(List.of(some))).isFalse();
    assertThat(watch.suspects(List.of(some))).isTrue();
    assertThat(watch.suspects(List.of(many("GPU")))).isFalse();
    KvEvent removed = new KvEvent.Removed(new Place("cpu", 0, 0, null), Hashes.of(1), Hashes.EMPTY);
    assertThat(watch.suspects(List.of(removed, some))).isFalse();
    assertThat(watch.suspects(List.of(some, some, some))).isFalse();
  }

  private static KvEvent many(String medium) {
    return new KvEvent.Stored(
        new Place(medium, 0, 0, null),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.of(new long[(int) LowerTierWatch.MANY / 2]),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private static List<@Nullable Object> engineStore(String medium, long hash) {
    return Arrays.asList("BlockStored", List.of(hash), 5L, List.of(1, 2), 2, null, medium);
  }
}
