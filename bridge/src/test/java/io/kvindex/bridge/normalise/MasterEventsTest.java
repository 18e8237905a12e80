// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.registration.RemovalScope;
import io.kvindex.model.registration.Shards;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What becomes of the events of a store's master, which name objects. */
class MasterEventsTest extends StoreFixture {

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

  /** Masters before Mooncake #3818 name the host in every removal, whatever the object was on. */
  @Test
  void shouldRemoveFromEveryMedium_whenNeitherRegistrationNorStreamSaysOtherwise() {
    for (RemovalScope scope : new RemovalScope[] {null, RemovalScope.ALL}) {
      registerRemovals(scope, new Learned());
      NormalisedBatch batch =
          master(
              at(true, "cpu"),
              at(true, "disk"),
              at(false, "cpu"),
              at(true, "cpu"),
              at(false, "disk"));
      assertThat(batch.events())
          .as("%s", scope)
          .endsWith(gone(0, HASH, MASTER), stored("cpu", 0, HASH, MASTER), gone(0, HASH, MASTER));
    }
    assertThat(master(at(false, "cpu"), at(false, "disk")).events())
        .as("registered, so the stream has no say")
        .containsExactly(gone(0, HASH, MASTER), gone(0, HASH, MASTER));
  }

  @Test
  void shouldRemoveFromTheNamedMediumOnly_whenTheRegistrationSaysSo() {
    registerRemovals(RemovalScope.MEDIUM, new Learned());
    NormalisedBatch batch =
        master(
            at(true, "cpu"),
            at(true, "disk"),
            at(false, "cpu"),
            Pack.masterEvent(false, key(0), "", "", List.of()));
    assertThat(batch.events())
        .containsExactly(
            stored("cpu", 0, HASH, MASTER),
            stored("disk", 0, HASH, MASTER),
            goneFrom("cpu", HASH),
            gone(0, HASH, MASTER));
  }

  /** What is not said of the medium it is on next can not be meant of all. */
  @Test
  void shouldRemoveFromTheNamedMediumOnly_onceAMasterRemovesFromASecondOne() {
    Learned learned = new Learned();
    registerRemovals(null, learned);
    assertThat(master(at(false, "cpu"), at(false, "CPU")).events())
        .as("one medium, spelt twice")
        .containsExactly(gone(0, HASH, MASTER), gone(0, HASH, MASTER));
    assertThat(master(at(true, "disk"), at(false, "disk")).events())
        .as("stored in between")
        .endsWith(gone(0, HASH, MASTER));
    assertThat(master(at(false, "cpu")).events()).containsExactly(goneFrom("cpu", HASH));
    assertThat(master(at(true, "cpu"), at(false, "cpu")).events()).endsWith(goneFrom("cpu", HASH));

    learned.forget(false);
    assertThat(master(at(false, "disk")).events())
        .as("the next life may be an older master's")
        .containsExactly(gone(0, HASH, MASTER));
  }

  @Test
  void shouldClearItsOwnTenantOnly_whenAMasterClears() {
    register(null, Map.of());
    NormalisedBatch batch =
        master(Pack.masterClear("acme"), Pack.masterClear("default"), Pack.masterClear(""));
    assertThat(batch.events())
        .containsExactly(
            new KvEvent.Cleared(3, KvEvent.ClearScope.ALL),
            new KvEvent.Cleared(3, KvEvent.ClearScope.ALL));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.OTHER_TENANT, 1));
  }

  private static Object at(boolean stored, String medium) {
    return Pack.masterEvent(stored, key(0), medium, "default", List.of());
  }

  @Test
  void shouldIndexTheGroupsDeclared_whenTheFirstIsNotTheOneWithEveryBlock() {
    registerGroups(Shards.of(2), List.of(1));
    NormalisedBatch batch = master(grouped(0, 0), grouped(1, 0), grouped(1, 1), grouped(11, 0));
    assertThat(batch.events())
        .containsExactly(stored("cpu", 0, HASH, MASTER), stored("cpu", 1, HASH, MASTER));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 2));
    assertThat(batch.remarks()).isEmpty();
  }

  /** Each of them has to hold the block: their objects are shards of it. */
  @Test
  void shouldNumberObjectsOfAllGroups_whenSeveralAreDeclared() {
    registerGroups(Shards.of(2), List.of(3, 0));
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

    registerGroups(null, List.of(0, 3));
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
    String wrong = "events have block_size 16,";
    assertThat(master(Pack.masterEvent(true, key(0), "cpu", "", List.of())).problem()).isNull();
    NormalisedBatch batch = master(sized(key(0), 16), sized(key(1), 16));
    assertThat(batch.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 2));
    assertThat(batch.problem()).startsWith(wrong);
    assertThat(master(Pack.masterEvent(true, key(0), "cpu", "", List.of())).problem())
        .as("tells no size")
        .startsWith(wrong);
    assertThat(master(sized(key(0), 2)).problem()).as("some have it").isNull();
    NormalisedBatch others = master(sized(key(0), 16));
    assertThat(others.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(others.problem()).as("of another table that shares the store").isNull();
    assertThat(master(sized(key(0).replace("llama", "qwen"), 16)).problem()).isNull();
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

  private static Object sized(String key, int blockSize) {
    Map<String, @Nullable Object> event = Pack.masterEvent(true, key, "cpu", "", List.of());
    event.put("block_size", blockSize);
    return event;
  }
}
