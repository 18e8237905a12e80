// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.index.BlocksModel.Copies;
import io.kvindex.streams.index.BlocksModel.Keeper;
import io.kvindex.streams.index.BlocksModel.Meaning;
import io.kvindex.streams.index.BlocksModel.Name;
import io.kvindex.streams.index.BlocksModel.Part;
import io.kvindex.streams.index.BlocksModel.State;
import io.kvindex.streams.index.RandomBlocks.Real;
import io.kvindex.streams.index.RandomBlocks.Shape;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalTest {

  private static final Shape[] SHAPES = {
    new Shape(300, 10, 60, 64, 0),
    new Shape(60, 4, 10, 5, (1 << 25) - 40),
    new Shape(800, 40, 300, 64, 0),
    new Shape(40, 3, 200, 64, (1 << 25) - 7),
  };

  /** A name as a checkpoint would have it: owners by number, not by slot. */
  private record Row(Meaning meaning, boolean unheld, long place, Map<Part, Copies> copies) {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldMakeTheRowsThoseOfTheTable_afterEachSwap(long seed) {
    Random random = new Random(seed);
    Journal.Pieces pool = new Journal.Pieces();
    Shape shape = SHAPES[(int) seed % SHAPES.length];
    RandomBlocks blocks = new RandomBlocks(random, shape, new Journal(pool));
    Real real = blocks.reals.get(0);
    Map<Name, Row> disk = new HashMap<>();
    long changes = 0;
    for (int swap = 0; swap < 40; swap++) {
      // Now and then more than a piece has room for.
      for (int i = (swap % 20 == 19 ? 2_500 : random.nextInt(100)); i > 0; i--) {
        blocks.record();
      }
      Journal full = real.blocks.swap(new Journal(pool));
      changes += full.size();
      apply(full, real, blocks.model, disk);
      full.release();
      assertThat(full.isEmpty()).isTrue();
      checkRows(blocks.model, disk);
    }
    System.out.println(changes + " changes, " + disk.size() + " rows; " + blocks.done);
  }

  /** What a checkpoint does, by the last change of each name. */
  private static void apply(Journal journal, Real real, BlocksModel model, Map<Name, Row> disk) {
    Map<Name, Boolean> there = new HashMap<>();
    Map<Name, Integer> last = new LinkedHashMap<>();
    for (int change = 0; change < journal.size(); change++) {
      Name name = name(journal, change);
      assertThat(journal.existed(change))
          .as("%s was there before change %d of it", name, change)
          .isEqualTo(there.getOrDefault(name, disk.containsKey(name)));
      there.put(name, journal.exists(change));
      last.put(name, change);
    }
    last.forEach(
        (name, change) -> {
          if (there.getOrDefault(name, false)) {
            disk.put(name, row(journal, change, real, model));
          } else {
            disk.remove(name);
          }
        });
  }

  private static Name name(Journal journal, int change) {
    return new Name(journal.space(change), journal.get(change, Journal.HASH));
  }

  private static Row row(Journal journal, int change, Real real, BlocksModel model) {
    long word = journal.get(change, Journal.WORD);
    OwnerSet set = journal.set(change);
    long[] counts = journal.counts(change);
    assertThat(set == null).isEqualTo((word & Blocks.HELD) == 0);
    assertThat(counts == null).isEqualTo((word & Blocks.COUNTED) == 0);
    Map<Part, Copies> copies = new HashMap<>();
    int table = model.tableOf(name(journal, change));
    for (Keeper keeper : model.keepers.values()) {
      if (keeper.table == table && !keeper.gone && set != null) {
        for (int group : keeper.groups) {
          if (set.contains(real.holder(keeper.id).slot(group))) {
            copies.put(new Part(keeper.id, group), new Copies(1, 0));
          }
        }
      }
    }
    for (int i = 0; counts != null && i < counts.length; i += 2) {
      Part part = new Part((int) (counts[i] >>> 8), (int) counts[i] & 0xFF);
      Copies said = new Copies((int) (counts[i + 1] >>> 32), (int) counts[i + 1]);
      assertThat(copies.containsKey(part) || model.keeper(part.owner()).gone)
          .isEqualTo(said.certain() > 0 || model.keeper(part.owner()).gone);
      copies.put(part, said);
    }
    return new Row(
        new Meaning(
            journal.get(change, Journal.KEY),
            journal.get(change, Journal.CONTEXT),
            (int) (word >>> Blocks.DEPTH_AT) & Blocks.DEEPEST,
            journal.get(change, Journal.LOCAL),
            journal.get(change, Journal.PARENT),
            (word & Blocks.BY_DEVICE) != 0),
        (word & (Blocks.HELD | Blocks.COUNTED)) == 0,
        word & Blocks.LOW,
        copies);
  }

  private static void checkRows(BlocksModel model, Map<Name, Row> disk) {
    assertThat(disk.keySet()).isEqualTo(model.names.keySet());
    disk.forEach(
        (name, row) -> {
          State state = model.state(name);
          Meaning meaning = state.meaning;
          assertThat(row.meaning)
              .isEqualTo(
                  new Meaning(
                      meaning.key(),
                      meaning.context(),
                      Math.min(meaning.depth(), Blocks.DEEPEST),
                      meaning.local(),
                      meaning.parent(),
                      meaning.byDevice()));
          assertThat(ofLiving(model, row.copies)).isEqualTo(ofLiving(model, state.copies));
          assertThat(row.unheld).as("nobody has %s", name).isEqualTo(state.isUnheld());
          if (row.unheld) {
            assertThat(row.place).isEqualTo(state.place() & Blocks.LOW);
          }
        });
  }

  private static Map<Part, Copies> ofLiving(BlocksModel model, Map<Part, Copies> copies) {
    Map<Part, Copies> living = new HashMap<>(copies);
    living.keySet().removeIf(part -> model.keeper(part.owner()).dead);
    return living;
  }

  @Test
  void shouldKeepEachChange_whenThereAreMoreThanAPieceTakes() {
    Journal.Pieces pool = new Journal.Pieces();
    for (int round = 0; round < 3; round++) {
      Journal journal = new Journal(pool);
      assertThat(journal.isEmpty()).isTrue();
      int count = 2 * Journal.PIECE + round * (Journal.PIECE - 1) + 1;
      for (int i = 0; i < count; i++) {
        OwnerSet set = new OwnerSet(i, 0, new long[0]);
        long[] copies = i % 3 == 0 ? null : new long[] {i};
        journal.add(1, i, 2, 3, 4, 5, 6, i % 2 == 0, i % 5 == 0, i % 4 == 0 ? null : set, copies);
        assertThat(journal.size()).isEqualTo(i + 1);
      }
      for (int i = 0; i < count; i++) {
        assertThat(journal.get(i, Journal.HASH)).isEqualTo(i);
        assertThat(journal.existed(i)).isEqualTo(i % 2 == 0);
        assertThat(journal.exists(i)).isEqualTo(i % 5 == 0);
        OwnerSet set = journal.set(i);
        assertThat(set == null ? -1 : set.id).isEqualTo(i % 4 == 0 ? -1 : i);
        assertThat(journal.counts(i)).isEqualTo(i % 3 == 0 ? null : new long[] {i});
      }
      journal.release();
      assertThat(journal.size()).isZero();
    }
  }

  @Test
  void shouldKeepTheNewestRowOfADictionary() {
    Journal journal = new Journal(new Journal.Pieces());
    Bytes key = Bytes.wrap("O1".getBytes(StandardCharsets.UTF_8));
    Bytes other = Bytes.wrap("O2".getBytes(StandardCharsets.UTF_8));
    journal.put(key, new byte[] {1});
    journal.put(other, new byte[] {2});
    journal.put(Bytes.wrap(key.get().clone()), null);
    assertThat(journal.isEmpty()).isFalse();
    assertThat(journal.size()).isZero();
    assertThat(journal.rows()).hasSize(2).containsEntry(key, null);
    assertThat(Arrays.toString(journal.rows().get(other))).isEqualTo("[2]");
    journal.release();
    assertThat(journal.isEmpty()).isTrue();
  }
}
