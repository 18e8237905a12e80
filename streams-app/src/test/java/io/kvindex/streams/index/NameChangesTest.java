// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.TestSeed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What a journal comes to. */
class NameChangesTest {

  private static final int SPACES = 3;

  private final Journal.Pieces pieces = new Journal.Pieces();
  private final Blocks blocks = new Blocks(new Epochs(), new Journal(pieces));
  private final Holder holder;
  private final NameRow row = new NameRow();

  NameChangesTest() {
    blocks.addTable(0);
    for (int space = 0; space < SPACES; space++) {
      blocks.addSpace(space, 0, false, 0);
    }
    holder = blocks.addHolder(0, 7, Walks.owner("a"));
  }

  private void hold(int space, long hash) {
    if (!blocks.find(space, hash)) {
      blocks.teach(space, hash, hash + 1, 0, 0, 0, 0, true);
    }
    blocks.setCopies(holder, 0, 1, 1, 0);
  }

  private void drop(int space, long hash) {
    blocks.find(space, hash);
    blocks.setCopies(holder, 0, 1, 0, 0);
  }

  private NameChanges changes() {
    return new NameChanges(blocks.swap(new Journal(pieces)));
  }

  @Test
  void shouldCostNothing_whenANameCameAndWent() {
    hold(0, 5);
    drop(0, 5);
    blocks.trim(0);
    NameChanges changes = changes();
    assertThat(changes.count()).isZero();
    assertThat(changes.grown()).isZero();
    assertThat(changes.next(row)).isFalse();
  }

  @Test
  void shouldTellTheLastChange_whenThereAreSeveral() {
    hold(1, 5);
    drop(1, 5);
    hold(1, 5);
    NameChanges changes = changes();
    assertThat(changes.grown()).isEqualTo(1);
    assertThat(changes.next(row)).isTrue();
    assertThat(row.exists()).isTrue();
    assertThat(row.hash()).isEqualTo(5);
    assertThat(row.key()).isEqualTo(6);
    assertThat(row.holders).isEqualTo(1);
    assertThat(row.holder[0]).isEqualTo(7L << Holder.PART_BITS);
    assertThat(row.place).isNegative();
    assertThat(changes.next(row)).isFalse();
  }

  /** Of builds before it was told how many keys there are, which is its last byte here. */
  @Test
  void shouldPutNamesBack_whenTheStateDoesNotTellHowManyKeysThereAre() {
    hold(1, 5);
    Journal journal = blocks.swap(new Journal(pieces));
    assertThat(new NameChanges(journal).next(row)).isTrue();
    byte[] state = Arrays.copyOf(journal.state(), journal.state().length - 1);
    Blocks again = new Blocks(new Epochs(), Journal.none());
    PrefixIndex index = again.addTable(0);
    for (int space = 0; space < SPACES; space++) {
      again.addSpace(space, 0, false, 0);
    }
    again.addHolder(0, 7, Walks.owner("a"));
    Restoring restoring = again.restore(state);
    restoring.expect(new long[] {0, 1, 0});
    restoring.resolve(row);
    restoring.insert(new NameRow[] {row}, 1);
    assertThat(again.find(1, 5)).isTrue();
    assertThat(again.isHeld()).isTrue();
    assertThat(index.figures().blocks()).isEqualTo(1);
  }

  @Test
  void shouldTellThatItIsGone_whenItWasThereBefore() {
    hold(1, 5);
    changes();
    drop(1, 5);
    blocks.trim(0);
    NameChanges changes = changes();
    assertThat(changes.grown()).isEqualTo(-1);
    assertThat(changes.next(row)).isTrue();
    assertThat(row.exists()).isFalse();
    assertThat(changes.next(row)).isFalse();
    hold(1, 5);
    NameChanges again = changes();
    assertThat(again.grown()).isEqualTo(1);
    assertThat(again.next(row)).isTrue();
    assertThat(row.exists()).isTrue();
  }

  /** A slot that was swept and is given to another says nothing of that one. */
  @Test
  void shouldNotNameTheNextOwnerOfASlot_whenTheOneBeforeWasSweptMeanwhile() {
    Holder other = blocks.addHolder(0, 8, Walks.owner("b"));
    hold(0, 5);
    blocks.setCopies(other, 0, 1, 1, 0);
    blocks.kill(holder);
    while (Walks.isToSweep(blocks.table(0))) {
      blocks.sweep(gone -> assertThat(gone).isSameAs(holder));
    }
    Holder next = blocks.addHolder(0, 9, Walks.owner("c"));
    assertThat(next.visible()).isNotEqualTo(holder.visible());
    NameChanges changes = changes();
    assertThat(changes.next(row)).isTrue();
    assertThat(row.holders).isEqualTo(1);
    assertThat(row.holder[0]).isEqualTo(8L << Holder.PART_BITS);
    assertThat(blocks.addHolder(0, 10, Walks.owner("d")).visible()).isEqualTo(holder.visible());
  }

  /** Against a map, with names that change often and some hundred thousand changes. */
  @Test
  void shouldTellEachNameOnceInOrder_whenThereAreManyChanges() {
    long seed = TestSeed.of(NameChangesTest.class);
    SplittableRandom random = new SplittableRandom(seed);
    Map<List<Long>, Boolean> rows = new HashMap<>();
    for (int round = 0; round < 5; round++) {
      for (int i = random.nextInt(100_000); i >= 0; i--) {
        int space = random.nextInt(SPACES);
        long hash = random.nextInt(10) == 0 ? random.nextInt(3) : random.nextInt(20_000);
        if (random.nextBoolean()) {
          hold(space, hash);
        } else if (blocks.find(space, hash)) {
          drop(space, hash);
        }
        blocks.trim(1_000);
      }
      NameChanges changes = changes();
      long before = rows.size();
      List<Long> last = null;
      int told = 0;
      while (changes.next(row)) {
        List<Long> name = List.of((long) row.space, NameTable.mix(row.hash));
        assertThat(row.hash()).isEqualTo(NameTable.unmix(NameTable.mix(row.hash)));
        if (last != null && last.get(0).equals(name.get(0))) {
          assertThat(Long.compareUnsigned(last.get(1), name.get(1)))
              .as("seed %d", seed)
              .isNegative();
        }
        last = name;
        told++;
        if (row.exists()) {
          rows.put(name, row.place < 0);
        } else {
          assertThat(rows.remove(name)).as("a row to delete, seed %d", seed).isNotNull();
        }
      }
      assertThat(told).isEqualTo(changes.count());
      assertThat(rows.size()).isEqualTo(before + changes.grown());
      assertThat(rows).as("seed %d", seed).isEqualTo(names());
    }
  }

  /** Names there are, and whether they are held. */
  private Map<List<Long>, Boolean> names() {
    Map<List<Long>, Boolean> names = new HashMap<>();
    for (int ref = 0; ref < SPACES; ref++) {
      NameTable in = blocks.space(ref).names();
      long space = ref;
      for (long hash : in.range(0, 0, () -> true)) {
        assertThat(blocks.find(ref, hash)).isTrue();
        names.put(List.of(space, NameTable.mix(hash)), blocks.isHeld());
      }
    }
    return names;
  }
}
