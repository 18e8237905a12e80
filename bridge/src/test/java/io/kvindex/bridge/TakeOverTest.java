// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Place;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.Topics;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a bridge knows of a publisher that an earlier one followed: only what Kafka holds. */
class TakeOverTest extends BridgeFixture {

  private static final int SIZE = FakeEngine.BLOCK_SIZE;

  /** Stores tell the kind of a group once; what comes later states its number alone. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldKnowTheKindsOfGroups_whenAnEarlierBridgeWasTold(boolean killed) throws Exception {
    FakeEngine engine = engine(true);
    Bridge first = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(
        0,
        batch(
            stored("GPU", 1, null, 0, "full_attention"),
            stored("GPU", 1, null, 1, "sliding_window"),
            stored("GPU", 1, null, 2, "mla_attention")));
    engine.publish(1, batch(stored("GPU", 2, 1L, 0, "full_attention")));
    await().atMost(SOON).until(() -> isAcked(1) && progress().groups().size() == 3);
    assertThat(counter(worker(first), "skipped_attention_group")).isEqualTo(1);
    if (killed) {
      first.halt();
    } else {
      first.close();
    }
    engine.forgetBefore(1); // no replay tells the kinds again

    Bridge second = bridge();
    engine.publish(
        2,
        batch(
            removed(1, 1),
            placeholder(1, 1),
            removed(1, 2),
            placeholder(1, 0), // offloaded blocks are announced without tokens and size
            placeholder(2, 2)));
    awaitIds(2);
    List<EventRecord> log = site.events(name);
    assertThat(last(name).events())
        .extracting(TakeOverTest::summary)
        .containsExactly(
            "removed " + new Place("GPU", 0, 2, null) + " " + Hashes.of(1),
            "stored " + new Place("CPU", 0, 0, null) + " " + Hashes.of(1),
            "stored " + new Place("CPU", 0, 2, null) + " " + Hashes.of(2));
    assertThat(counter(worker(second), "skipped_attention_group")).isEqualTo(2);
    assertThat(log).extracting(EventRecord::incarnation).containsOnly(log.get(0).incarnation());
    // The third bridge learns from the second one's progress, which never saw a kind stated.
    await().atMost(SOON).until(() -> isAcked(2));
    assertThat(progress().groups()).hasSize(3);
  }

  @Test
  void shouldNotBeSureOfSalts_whenAnEarlierBridgeWasToldThem() throws Exception {
    FakeEngine engine = engine(true);
    Bridge first = bridge();
    register(dynamo(Site.engine(name, engine.endpoint(), engine.replayEndpoint())));
    engine.publish(0, batch(stored("GPU", 1, null, 0, null)));
    engine.publish(1, batch(stored("GPU", 2, 1L, 0, null)));
    await().atMost(SOON).until(() -> isAcked(1));
    assertThat(counter(worker(first), "remarked_unverified_salt")).isZero();
    first.close();
    Bridge second = bridge();
    engine.publish(2, batch(stored("GPU", 3, 2L, 0, null)));
    awaitIds(2);
    assertThat(counter(worker(second), "remarked_unverified_salt")).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldGoOnCountingClears_whenAnEarlierBridgeCounted(boolean killed) throws Exception {
    FakeEngine engine = engine(true);
    Bridge first = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    Object clear = Pack.map("type", "AllBlocksCleared");
    engine.publish(0, batch(clear, stored("GPU", 1, null, 0, null), clear));
    await().atMost(SOON).until(() -> isAcked(0));
    assertThat(progress().clears()).isEqualTo(2);
    if (killed) {
      first.halt();
    } else {
      first.close();
    }
    Bridge second = bridge();
    engine.publish(1, batch(clear));
    await().atMost(SOON).until(() -> isAcked(1));
    assertThat(progress().clears()).isEqualTo(3);
    assertThat(worker(second).clears()).isEqualTo(3);
    assertThat(counter(worker(second), "events_cleared")).isEqualTo(1);
    assertThat(site.events(name))
        .extracting(EventRecord::incarnation)
        .containsOnly(new Incarnation(progress().generation(), life(), 0));
  }

  private long life() {
    return Objects.requireNonNull(progress().life());
  }

  private BridgeProgress progress() {
    return BridgeProgressCodec.decode(newestProgress().value());
  }

  private boolean isAcked(long sequence) {
    return !mine(Topics.BRIDGE_PROGRESS).isEmpty()
        && Long.valueOf(sequence).equals(progress().lastSequence());
  }

  private static String summary(KvEvent event) {
    if (event instanceof KvEvent.Stored stored) {
      return "stored " + stored.place() + " " + stored.engineHashes();
    }
    return event instanceof KvEvent.Removed removed
        ? "removed " + removed.place() + " " + removed.engineHashes()
        : event.toString();
  }

  private static Registration dynamo(Registration r) {
    TableId table =
        new TableId(
            r.table().tenantId(),
            r.table().model(),
            r.table().blockSize(),
            HashProfile.of(Algorithm.XXH3_DYNAMO));
    return new Registration(
        r.publisher(),
        r.endpoint(),
        r.replayEndpoint(),
        r.type(),
        table,
        r.loraNames(),
        r.namespace(),
        r.options(),
        r.continues());
  }

  private static byte[] batch(Object... events) {
    return Pack.bytes(List.of(1_760_000_000.25, List.of(events), 0));
  }

  private static Object stored(
      String medium, long hash, @Nullable Long parent, int group, @Nullable String kind) {
    List<Integer> tokens = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      tokens.add((int) hash * SIZE + i);
    }
    return stored(medium, hash, parent, tokens, SIZE, group, kind);
  }

  private static Object placeholder(long hash, int group) {
    return stored("CPU", hash, null, List.of(), 0, group, null);
  }

  private static Object stored(
      String medium,
      long hash,
      @Nullable Long parent,
      List<Integer> tokens,
      int blockSize,
      int group,
      @Nullable String kind) {
    return Pack.map(
        "type",
        "BlockStored",
        "block_hashes",
        List.of(hash),
        "parent_block_hash",
        parent,
        "token_ids",
        tokens,
        "block_size",
        blockSize,
        "medium",
        medium,
        "group_idx",
        group,
        "kv_cache_spec_kind",
        kind);
  }

  private static Object removed(long hash, int group) {
    return Pack.map(
        "type", "BlockRemoved", "block_hashes", List.of(hash), "medium", "GPU", "group_idx", group);
  }
}
