// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.SeqHash;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What becomes of a store's events that list the addresses of replicas. */
class AddressEventsTest extends StoreFixture {

  @Test
  void shouldTellMediaByAddress_whenEventsListReplicas() {
    register(null, Map.of("NVMe", "DISK", "obj://", "OBJ"));
    Hashes local = Hashes.of(new SeqHash(1337).locals(new int[] {1, 2}, 2, 2));
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

  private static KvEvent withLocal(String medium, Hashes local) {
    return new KvEvent.Stored(
        new Place(medium, 3, 0, null),
        StatedContext.NONE,
        Parent.UNKNOWN,
        Hashes.of(7),
        local,
        Hashes.EMPTY);
  }

  private static KvEvent gone(String medium) {
    return new KvEvent.Removed(new Place(medium, 3, 0, null), Hashes.of(7), Hashes.EMPTY);
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
}
