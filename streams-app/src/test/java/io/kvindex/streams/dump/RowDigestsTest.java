// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Place;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.fixture.RowStore;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.PartitionDigest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowDigestsTest {

  private static final Place GPU = Place.of("GPU", 0);

  @TempDir private Path dir;

  private RowStore open(String name) {
    return new RowStore(dir.resolve(name), new ArrayList<>());
  }

  private static PartitionDigest digest(RowStore store) throws DumpFailedException {
    PartitionDigest digest = new RowDigests(store.rows(), () -> false).of(owner -> true);
    assertThat(digest.settled()).isTrue();
    return digest;
  }

  private static void assertSame(PartitionDigest one, PartitionDigest other, String what) {
    Set<OwnerDigest> owners = new HashSet<>(one.owners());
    assertThat(new HashSet<>(other.owners())).as(what).isEqualTo(owners);
    assertThat(other.appliedOffset()).as(what).isEqualTo(one.appliedOffset());
    assertThat(other.streams()).as(what).isEqualTo(one.streams());
    assertThat(other.held()).as(what).isEqualTo(one.held());
    assertThat(other.positions()).as(what).isEqualTo(one.positions());
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void shouldBeTheSame_onAStandbyAfterARestartAndInARebuild(long seed) throws Exception {
    System.out.println("RowDigestsTest seed " + seed);
    Random random = new Random(seed);
    RandomLog source = new RandomLog(random);
    List<EventRecord> records = new ArrayList<>();
    List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
    RowStore active = new RowStore(dir.resolve("active"), changelog).activate(Limits.DEFAULT);
    try (RowStore standby = open("standby");
        RowStore rebuild = open("rebuild").activate(Limits.DEFAULT)) {
      for (int i = 0; i < 800; i++) {
        records.add(source.next());
        active.take(records.get(i), 1);
        if (random.nextInt(10) == 0) {
          active.tidy(random.nextInt(50));
        }
      }
      PartitionDigest live = digest(active);
      assertThat(live.owners()).as("owners").hasSizeGreaterThan(3);
      assertThat(live.owners()).extracting(OwnerDigest::sum).doesNotHaveDuplicates();

      standby.table(); // from here on rows are folded one by one
      standby.restore(changelog, 0, 1 + random.nextInt(50));
      assertSame(live, digest(standby), "standby");
      active.close();
      active = new RowStore(dir.resolve("active"), changelog).activate(Limits.DEFAULT);
      assertSame(live, digest(active), "after a restart");
      records.forEach(record -> rebuild.take(record, 1));
      assertSame(live, digest(rebuild), "rebuild, swept in other steps");
    } finally {
      active.close();
    }
  }

  @Test
  void shouldDifferInOneOwner_whenOneRowIsMissing() throws Exception {
    Engine one = new Engine("one");
    Engine two = new Engine("two");
    try (RowStore store = open("store").activate(Limits.DEFAULT)) {
      store.take(one.batch(new Prompt("abcdef").stored(GPU)), 1);
      store.take(two.batch(new Prompt("abcxyz").stored(GPU)), 1);
      PartitionDigest before = digest(store);
      List<HeldBlock> all = blocks(store, owner(before, "two").owner().id(), 0, 100);
      assertThat(all).hasSize(6).allMatch(HeldBlock::resolved);

      HeldBlock gone = all.get(3);
      store.rows().delete(rowOf(store, gone.engineHash(), owner(before, "two").blocks()));

      PartitionDigest after = digest(store);
      assertThat(owner(after, "one")).isEqualTo(owner(before, "one"));
      assertThat(owner(after, "two").owner()).isEqualTo(owner(before, "two").owner());
      assertThat(owner(after, "two").blocks()).isEqualTo(5);
      assertThat(owner(after, "two").sum()).isNotEqualTo(owner(before, "two").sum());
      List<HeldBlock> left = blocks(store, owner(after, "two").owner().id(), 0, 100);
      assertThat(left).hasSize(5).doesNotContain(gone);
      assertThat(all).containsAll(left);
    }
  }

  @Test
  void shouldListWhatWasAnnouncedAndNotRemoved_whereNobodyKnowsWhetherItIsASecondCopy()
      throws Exception {
    Engine engine = new Engine("one");
    Prompt prompt = new Prompt("abc");
    try (RowStore store = open("store").activate(Limits.DEFAULT)) {
      store.take(engine.batch(prompt.stored(GPU)), 1);
      store.take(engine.batch(prompt.stored(GPU)), 1);
      String owner = owner(digest(store), "one").owner().id();
      assertThat(blocks(store, owner, 0, 100)).hasSize(3).allMatch(block -> block.copies() == 2);

      store.take(engine.batch(prompt.removed(GPU, 0, 3)), 1);
      assertThat(blocks(store, owner, 0, 100)).allMatch(block -> block.copies() == 1);
    }
  }

  /** The row of a block that only the last owner may lose. */
  private static Bytes rowOf(RowStore store, long engineHash, long blocksOfOwner) {
    assertThat(blocksOfOwner).isEqualTo(6);
    Bytes last = null;
    try (KeyValueIterator<Bytes, byte[]> rows =
        store.rows().range(RowKeys.first(RowKind.BLOCK), RowKeys.first(RowKind.BLOCK + 1))) {
      while (rows.hasNext()) {
        Bytes key = rows.next().key;
        last = RowKeys.hash(key.get()) == engineHash ? key : last;
      }
    }
    return Objects.requireNonNull(last);
  }

  private static List<HeldBlock> blocks(RowStore store, String owner, long from, int most)
      throws DumpFailedException {
    return Objects.requireNonNull(
        new RowDigests(store.rows(), () -> false).blocks(owner, from, most));
  }

  private static OwnerDigest owner(PartitionDigest digest, String instance) {
    return digest.owners().stream()
        .filter(one -> one.owner().publisher().instanceId().equals(instance))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldTellLivesApart_whenAnEngineHasRestarted() throws Exception {
    Engine engine = new Engine("a");
    try (RowStore store = open("store").activate(Limits.DEFAULT)) {
      store.take(engine.batch(new Prompt("ab").stored(GPU)), 1);
      OwnerDigest former = owner(digest(store), "a");
      engine.restart();
      store.take(engine.opening(), 1);
      assertThat(digest(store).owners()).as("nothing counts").isEmpty();
      store.take(engine.batch(new Prompt("ab").stored(GPU)), 1);
      OwnerDigest now = owner(digest(store), "a");

      assertThat(now.sum()).as("the same blocks").isEqualTo(former.sum());
      assertThat(now.owner().id()).isNotEqualTo(former.owner().id());
    }
  }

  @Test
  void shouldCountCopiesAndWhatWaits() throws Exception {
    Engine engine = new Engine("a");
    try (RowStore store = open("store").activate(Limits.DEFAULT)) {
      store.take(engine.batch(new Prompt("ab").stored(GPU)), 1);
      OwnerDigest once = owner(digest(store), "a");
      store.take(engine.batch(new Prompt("ab").stored(GPU)), 1);
      OwnerDigest twice = owner(digest(store), "a");
      assertThat(twice.blocks()).isEqualTo(2);
      assertThat(twice.sum()).as("two copies each").isNotEqualTo(once.sum());

      store.take(engine.batch(new Prompt("xyz").stored(GPU, 2, 3)), 1);
      assertThat(owner(digest(store), "a").waiting()).isEqualTo(1);
    }
  }

  @Test
  void shouldListInPages_whenThereAreMoreThanWanted() throws Exception {
    Engine engine = new Engine("a");
    try (RowStore store = open("store").activate(Limits.DEFAULT)) {
      for (char c = 'a'; c <= 'z'; c++) {
        store.take(engine.batch(new Prompt(c + "123456789").stored(GPU)), 1);
      }
      OwnerDigest owner = owner(digest(store), "a");
      List<HeldBlock> paged = new ArrayList<>();
      List<HeldBlock> page = blocks(store, owner.owner().id(), 0, 7);
      while (!page.isEmpty()) {
        paged.addAll(page);
        page = blocks(store, owner.owner().id(), page.get(page.size() - 1).engineHash() + 1, 7);
      }
      assertThat(paged).hasSize((int) owner.blocks()).doesNotHaveDuplicates();
      assertThat(paged).isEqualTo(blocks(store, owner.owner().id(), 0, 1_000));
      assertThat(new RowDigests(store.rows(), () -> false).blocks("nobody", 0, 1)).isNull();
    }
  }
}
