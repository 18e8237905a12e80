// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * TensorRT-LLM's own ZMQ stream. Layout: TensorRT-LLM #17023, {@code
 * pyexecutor/kv_cache_events.py}: positional batch with the rank, events as tagged maps.
 */
class TensorRtLlmTest {

  private static final Registration REGISTRATION =
      StoreFixture.registration(
          SourceType.TENSORRT_LLM, SourceOptions.defaultFor(SourceType.TENSORRT_LLM));

  private final Normaliser normaliser = Normaliser.of(REGISTRATION);

  @Test
  void shouldReadItsEvents_whenTheyComeAsItSendsThem() {
    Map<String, @Nullable Object> event = stored(List.of(-7L, 8L), null, List.of(1, 2, 3, 4));
    event.put("lora_id", 0L);
    NormalisedBatch batch =
        normalise(
            event,
            Pack.map("type", "BlockRemoved", "block_hashes", List.of(-7L), "medium", "GPU"),
            Pack.map("type", "AllBlocksCleared"));
    KvEvent.Stored stored = (KvEvent.Stored) batch.events().get(0);
    assertThat(stored.engineHashes()).isEqualTo(Hashes.of(-7, 8));
    assertThat(stored.parent()).isEqualTo(Parent.ROOT);
    assertThat(stored.place()).isEqualTo(new Place("GPU", 2, 0, null));
    assertThat(stored.context())
        .as("0 is an adapter")
        .isEqualTo(new StatedContext("id:0", 0L, null, null));
    assertThat(batch.events().subList(1, 3))
        .containsExactly(
            new KvEvent.Removed(new Place("GPU", 2, 0, null), Hashes.of(-7), Hashes.EMPTY),
            new KvEvent.Cleared(2, ClearScope.ALL));
    assertThat(REGISTRATION.options().copies()).isEqualTo(CopyPolicy.SET);
  }

  @Test
  void shouldKeepBlocksApart_whenTheyShowImages() {
    Map<String, @Nullable Object> event = stored(List.of(7L, 8L), null, List.of(1, 2, 3, 4));
    Object image = Pack.map("type", "mm_key", "hash", "ab", "start_offset", 1L);
    event.put("mm_keys", List.of(List.of(), List.of(image)));
    NormalisedBatch batch = normalise(event);
    Hashes extra = ((KvEvent.Stored) batch.events().get(0)).extraHashes();
    assertThat(extra.get(0)).isZero();
    assertThat(extra.get(1)).isNotZero();
    assertThat(batch.remarks()).isEqualTo(Map.of(Remark.EXTRA_KEYS, 1));

    event.put("mm_keys", List.of(List.of(), List.of()));
    batch = normalise(event);
    assertThat(((KvEvent.Stored) batch.events().get(0)).extraHashes()).isEqualTo(Hashes.EMPTY);

    event.put("mm_keys", List.of(List.of(image)));
    batch = normalise(event);
    assertThat(((KvEvent.Stored) batch.events().get(0)).localHashes())
        .as("whose image it is nobody knows")
        .isEqualTo(Hashes.EMPTY);
  }

  /** Its groups are numbered by layer: the first one may look back a window only. */
  @Test
  void shouldIndexAGroupOnly_whenItsKindIsKnown() {
    Map<String, @Nullable Object> event = stored(List.of(7L), null, List.of(1, 2));
    event.put("layer_group_id", 0L);
    NormalisedBatch batch = normalise(event);
    assertThat(batch.events()).isEmpty();
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 1));

    event.put("kv_cache_spec_kind", "full_attention");
    assertThat(normalise(event).events()).hasSize(1);
    event.remove("kv_cache_spec_kind");
    assertThat(normalise(event).events()).as("told once").hasSize(1);
  }

  private static Map<String, @Nullable Object> stored(
      List<Long> hashes, @Nullable Long parent, List<Integer> tokens) {
    return Pack.map(
        "type",
        "BlockStored",
        "block_hashes",
        hashes,
        "parent_block_hash",
        parent,
        "token_ids",
        tokens,
        "block_size",
        2L,
        "lora_id",
        null,
        "medium",
        "GPU",
        "lora_name",
        null);
  }

  private NormalisedBatch normalise(Object... events) {
    byte[] payload = Pack.bytes(List.of(1_760_000_000.5, List.of(events), 2));
    EngineBatch batch =
        (EngineBatch) EngineDecoder.forSource(SourceType.TENSORRT_LLM).decode(payload);
    assertThat(batch.skipped()).isEmpty();
    return normaliser.normalise(batch);
  }
}
