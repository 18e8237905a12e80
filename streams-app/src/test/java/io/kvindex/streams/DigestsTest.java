// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Place;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestsTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);

  @TempDir private Path dir;

  private StoredIndex open(String name) throws Exception {
    return new StoredIndex(dir.resolve(name));
  }

  private static PartitionDigest digest(StoredIndex index) throws Exception {
    PartitionDigest digest = index.view().digest(owner -> true);
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
  void shouldBeTheSame_afterARestartAndInAnotherFold(long seed) throws Exception {
    Random random = new Random(seed);
    RandomLog source = new RandomLog(random);
    List<EventRecord> records = new ArrayList<>();
    PartitionDigest live;
    try (StoredIndex index = open("one")) {
      for (int i = 0; i < 800; i++) {
        records.add(source.next());
        index.take(records.get(i));
        if (random.nextInt(100) == 0) {
          digest(index); // checkpoints at other places
        }
      }
      live = digest(index);
      assertThat(live.owners()).as("owners").hasSizeGreaterThan(3);
      assertThat(live.owners()).extracting(OwnerDigest::sum).doesNotHaveDuplicates();
      assertThat(live.owners().stream().mapToLong(OwnerDigest::blocks).sum())
          .as("as many as the index has")
          .isGreaterThanOrEqualTo(inIndex(index));
    }
    try (StoredIndex again = open("one")) {
      assertSame(live, digest(again), "after a restart");
    }
    try (StoredIndex other = open("other")) {
      records.forEach(other::take);
      assertSame(live, digest(other), "another fold");
    }
  }

  /** Prefixes; one may have several names. */
  private static long inIndex(StoredIndex index) {
    long sum = 0;
    for (PrefixIndex table : index.view().tables().values()) {
      OwnerView owners = table.owners();
      for (int slot = 0; slot < owners.slots(); slot++) {
        sum += owners.owner(slot) == null ? 0 : table.members(slot);
      }
    }
    return sum;
  }

  @Test
  void shouldDifferInOneOwner_whenItLacksABlock() throws Exception {
    Engine one = new Engine("one");
    Engine two = new Engine("two");
    try (StoredIndex index = open("index")) {
      index.take(one.batch(new Prompt("abcdef").stored(GPU)));
      index.take(two.batch(new Prompt("abcxyz").stored(GPU)));
      PartitionDigest before = digest(index);
      List<HeldBlock> all = blocks(index, owner(before, "two").owner().id(), 0, 100);
      assertThat(all).hasSize(6).allMatch(HeldBlock::resolved);

      index.take(two.batch(new Prompt("abcxyz").removed(GPU, 3, 4)));

      PartitionDigest after = digest(index);
      assertThat(owner(after, "one")).isEqualTo(owner(before, "one"));
      assertThat(owner(after, "two").owner()).isEqualTo(owner(before, "two").owner());
      assertThat(owner(after, "two").blocks()).isEqualTo(5);
      assertThat(owner(after, "two").sum()).isNotEqualTo(owner(before, "two").sum());
      List<HeldBlock> left = blocks(index, owner(after, "two").owner().id(), 0, 100);
      assertThat(left).hasSize(5);
      assertThat(all).containsAll(left);
    }
  }

  @Test
  void shouldListWhatWasAnnouncedAndNotRemoved_whereNobodyKnowsWhetherItIsASecondCopy()
      throws Exception {
    Engine engine = new Engine("one");
    Prompt prompt = new Prompt("abc");
    try (StoredIndex index = open("index")) {
      index.take(engine.batch(prompt.stored(GPU)));
      index.take(engine.batch(prompt.stored(GPU)));
      String owner = owner(digest(index), "one").owner().id();
      assertThat(blocks(index, owner, 0, 100)).hasSize(3).allMatch(block -> block.copies() == 2);

      index.take(engine.batch(prompt.removed(GPU, 0, 3)));
      assertThat(blocks(index, owner, 0, 100)).hasSize(3).allMatch(block -> block.copies() == 1);
    }
  }

  private static List<HeldBlock> blocks(StoredIndex index, String owner, long from, int most)
      throws Exception {
    return Objects.requireNonNull(index.view().blocks(owner, from, most));
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
    try (StoredIndex index = open("index")) {
      index.take(engine.batch(new Prompt("ab").stored(GPU)));
      OwnerDigest former = owner(digest(index), "a");
      engine.restart();
      index.take(engine.opening());
      assertThat(digest(index).owners()).as("nothing counts").isEmpty();
      index.take(engine.batch(new Prompt("ab").stored(GPU)));
      OwnerDigest now = owner(digest(index), "a");

      assertThat(now.sum()).as("the same blocks").isEqualTo(former.sum());
      assertThat(now.owner().id()).isNotEqualTo(former.owner().id());
    }
  }

  @Test
  void shouldCountCopiesAndWhatWaits() throws Exception {
    Engine engine = new Engine("a");
    try (StoredIndex index = open("index")) {
      index.take(engine.batch(new Prompt("ab").stored(GPU)));
      OwnerDigest once = owner(digest(index), "a");
      index.take(engine.batch(new Prompt("ab").stored(GPU)));
      OwnerDigest twice = owner(digest(index), "a");
      assertThat(twice.blocks()).isEqualTo(2);
      assertThat(twice.sum()).as("two copies each").isNotEqualTo(once.sum());

      index.take(engine.batch(new Prompt("xyz").stored(GPU, 2, 3)));
      assertThat(owner(digest(index), "a").waiting()).isEqualTo(1);
    }
  }

  @Test
  void shouldListInPages_whenThereAreMoreThanWanted() throws Exception {
    Engine engine = new Engine("a");
    try (StoredIndex index = open("index")) {
      for (char c = 'a'; c <= 'z'; c++) {
        index.take(engine.batch(new Prompt(c + "123456789").stored(GPU)));
      }
      OwnerDigest owner = owner(digest(index), "a");
      List<HeldBlock> paged = new ArrayList<>();
      List<HeldBlock> page = blocks(index, owner.owner().id(), 0, 7);
      while (!page.isEmpty()) {
        paged.addAll(page);
        page = blocks(index, owner.owner().id(), page.get(page.size() - 1).engineHash() + 1, 7);
      }
      assertThat(paged).hasSize((int) owner.blocks()).doesNotHaveDuplicates();
      assertThat(paged).isEqualTo(blocks(index, owner.owner().id(), 0, 1_000));
      assertThat(index.view().blocks("nobody", 0, 1)).isNull();
    }
  }
}
