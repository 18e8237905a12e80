// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.Hashes;
import io.kvindex.streams.index.BlocksModel.Copies;
import io.kvindex.streams.index.BlocksModel.Keeper;
import io.kvindex.streams.index.BlocksModel.Meaning;
import io.kvindex.streams.index.BlocksModel.Name;
import io.kvindex.streams.index.BlocksModel.SpaceOf;
import io.kvindex.streams.index.BlocksModel.State;
import io.kvindex.streams.index.RandomBlocks.Real;
import io.kvindex.streams.index.RandomBlocks.Shape;
import io.kvindex.streams.index.Walks.Runs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlocksTest {

  private static final int PLACES = 1 << 25;

  /** Few of everything, so that all meets; many owners; limits that bite; places that wrap. */
  private static final Shape[] SHAPES = {
    new Shape(300, 10, 60, 64, 0),
    new Shape(60, 4, 10, 5, PLACES - 40),
    new Shape(800, 70, 300, 64, 3L * PLACES - 500),
    new Shape(40, 3, 500, 64, PLACES - 7),
    new Shape(2_000, 3, 1_000, 64, (1L << 40) - 300),
  };

  private static final int[] RECORDS = {5_000, 6_000, 1_500, 6_000, 4_000};

  private final Random reads = new Random(1);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void shouldBeLikeTheModel_whateverHappens(long seed) {
    int shape = (int) (seed % SHAPES.length);
    System.out.println("BlocksTest seed " + seed + ": " + SHAPES[shape]);
    Journal.Pieces pool = new Journal.Pieces();
    Journal[] journals = {new Journal(pool), new Journal(pool)};
    RandomBlocks both = new RandomBlocks(new Random(seed), SHAPES[shape], journals);
    both.disturb(1, this::read);
    Real read = both.reals.get(1);
    int records = RECORDS[shape];
    for (int i = 1; i <= records; i++) {
      if (reads.nextInt(3) > 0) {
        both.record();
      } else {
        // Slots and set ids that are free meanwhile are not used again in the one that is read.
        duringAWalk(read, both::record);
      }
      if (i % (records / 15) == 0) {
        both.reals.forEach(real -> check(both, real));
      }
    }
    System.out.println(both.done);
    checkEqual(journals[0], journals[1]);
    checkNothingIsLeft(both);
  }

  /** What may happen at any time and changes nothing. */
  private void read(RandomBlocks both, Real real) {
    if (real.spaces == 0) {
      return;
    }
    List<Keeper> keepers =
        both.model.live().stream().filter(keeper -> real.holders.containsKey(keeper.id)).toList();
    for (int i = reads.nextInt(3); i > 0; i--) {
      int space = 1 + reads.nextInt(real.spaces);
      long[] hashes = reads.longs(10, 0, both.shape.hashes()).toArray();
      real.blocks.touch(space, Hashes.of(hashes));
      if (real.blocks.find(space, hashes[0])) {
        real.blocks.isHeld();
        for (Keeper keeper : keepers) {
          if (keeper.table == both.model.tableOf(new Name(space, hashes[0]))) {
            real.blocks.copies(real.holder(keeper.id), keeper.groups.iterator().next());
            real.blocks.isHeldBy(real.holder(keeper.id), keeper.groups.iterator().next());
          }
        }
      }
    }
    if (!keepers.isEmpty() && reads.nextInt(20) == 0) {
      Keeper keeper = keepers.get(reads.nextInt(keepers.size()));
      real.blocks.forEach(
          real.holder(keeper.id), keeper.groups.iterator().next(), (at, hash) -> real.blocks.key());
    }
  }

  private static void duringAWalk(Real real, Runnable action) {
    new PrefixReader()
        .walk(
            real.index(1),
            Walks.keys(1, 2, 3),
            Walks.PLAIN,
            new Runs() {
              @Override
              public void begin(OwnerView owners) {
                super.begin(owners);
                action.run();
              }
            });
  }

  private void check(RandomBlocks both, Real real) {
    BlocksModel model = both.model;
    assertThat(real.gone).isEqualTo(both.gone());
    assertThat(model.tables().stream().map(real.blocks::table).anyMatch(Walks::isToSweep))
        .isEqualTo(model.isToSweep());
    assertThat(real.blocks.names()).isEqualTo(model.names.size());
    List<Keeper> live = model.live();
    for (Name name : both.everNamed()) {
      boolean known = model.names.containsKey(name);
      assertThat(real.blocks.find(name.space(), name.hash())).as("%s", name).isEqualTo(known);
      if (known) {
        checkName(model, real, name, live);
      }
    }
    checkUnheld(model, real);
    for (int table : model.tables()) {
      checkIndex(both, real, table);
    }
    for (Keeper keeper : model.keepers.values()) {
      if (!keeper.gone) {
        checkOwner(model, real, keeper);
      }
    }
  }

  private static void checkName(BlocksModel model, Real real, Name name, List<Keeper> live) {
    Blocks blocks = real.blocks;
    State state = model.state(name);
    Meaning meaning = state.meaning;
    assertThat(
            new Meaning(
                blocks.key(),
                blocks.context(),
                blocks.depth(),
                blocks.local(),
                blocks.parent(),
                blocks.byDevice()))
        .isEqualTo(
            new Meaning(
                meaning.key(),
                meaning.context(),
                Math.min(meaning.depth(), Blocks.DEEPEST),
                meaning.local(),
                meaning.parent(),
                meaning.byDevice()));
    assertThat(blocks.seqHash()).isEqualTo(meaning.key() ^ meaning.context());
    if (blocks.isHeld() != state.isHeld()) {
      throw new AssertionError(name + " is held: " + blocks.isHeld() + ", by " + state.copies);
    }
    for (Keeper keeper : live) {
      if (keeper.table == model.tableOf(name)) {
        for (int group : keeper.groups) {
          Copies expected = state.of(keeper.id, group);
          long copies = blocks.copies(real.holder(keeper.id), group);
          boolean held = blocks.isHeldBy(real.holder(keeper.id), group);
          if (copies != ((long) expected.certain() << 32 | expected.undecided())
              || held != expected.certain() > 0) {
            throw new AssertionError(
                name
                    + " of "
                    + keeper.id
                    + "/"
                    + group
                    + ": "
                    + Long.toHexString(copies)
                    + (held ? " held" : "")
                    + ", expected "
                    + expected);
          }
        }
      }
    }
  }

  /** Those nobody holds stand in the ring, each at the place that was given to it. */
  private static void checkUnheld(BlocksModel model, Real real) {
    assertThat(real.blocks.ring.head()).isEqualTo(model.ringHead());
    assertThat(real.blocks.ring.tail()).isEqualTo(model.ringTail());
    model.names.forEach(
        (name, state) -> {
          if (state.isUnheld()) {
            real.find(name);
            assertThat(real.blocks.word() & Blocks.LOW)
                .as("place of %s", name)
                .isEqualTo(state.place() & Blocks.LOW);
          }
        });
  }

  private void checkIndex(RandomBlocks both, Real real, int table) {
    BlocksModel model = both.model;
    PrefixIndex index = real.index(table);
    Map<Long, Set<Integer>> visible = model.visible(table);
    Set<Long> keys = new HashSet<>(visible.keySet());
    Arrays.stream(both.keys()).forEach(keys::add);
    Set<Long> stored = new HashSet<>();
    for (Name name : both.everNamed()) {
      if (model.tableOf(name) == table) {
        SpaceOf space = Objects.requireNonNull(model.spaces.get(name.space()));
        keys.add(name.hash() ^ space.nameContext());
        State state = model.names.get(name);
        if (state != null && state.isHeld()) {
          stored.addAll(space.keys(name.hash(), state.meaning.key()));
        }
      }
    }
    List<Keeper> live = model.live().stream().filter(keeper -> keeper.table == table).toList();
    for (long key : keys) {
      Set<Integer> expected = visible.getOrDefault(key, Set.of());
      List<Set<Integer>> walked = walk(index, key);
      assertThat(walked.isEmpty() ? Set.of() : walked.get(0)).as("key %d", key).isEqualTo(expected);
      assertThat(Walks.held(index, key)).isEqualTo(!expected.isEmpty());
      for (Keeper keeper : live) {
        if (Walks.contains(index, key, real.holder(keeper.id).visible())
            != expected.contains(keeper.id)) {
          throw new AssertionError("key " + key + " of " + keeper.id);
        }
      }
    }
    List<Long> held = new ArrayList<>(visible.keySet());
    if (!held.isEmpty()) {
      long[] prompt = reads.ints(200, 0, held.size()).mapToLong(held::get).toArray();
      List<Set<Integer>> walked = walk(index, prompt);
      assertThat(walked)
          .isEqualTo(Arrays.stream(prompt).mapToObj(key -> visible.get(key)).toList());
    }
    assertThat(index.figures().blocks()).isEqualTo(stored.size());
  }

  /** Owners of each block of a prompt, up to the first that has none. */
  private static List<Set<Integer>> walk(PrefixIndex index, long... prompt) {
    List<Set<Integer>> owners = new ArrayList<>();
    OwnerView view = index.owners();
    Runs runs = Walks.walk(index, prompt);
    for (int r = 0; r < runs.runs.size(); r++) {
      int end = r + 1 < runs.runs.size() ? runs.runs.get(r + 1).from() : runs.end;
      Set<Integer> these = new TreeSet<>();
      runs.runs.get(r).slots().stream()
          .forEach(
              slot ->
                  these.add(
                      Integer.valueOf(Objects.requireNonNull(view.owner(slot)).instanceId())));
      while (owners.size() < end) {
        owners.add(these);
      }
    }
    return owners;
  }

  private static void checkOwner(BlocksModel model, Real real, Keeper keeper) {
    Holder holder = real.holder(keeper.id);
    PrefixIndex index = real.index(keeper.table);
    assertThat(index.members(holder.visible())).isEqualTo(model.blocks(keeper, -1).size());
    for (int group : keeper.groups) {
      assertThat(index.members(holder.slot(group)))
          .as("group %d of %d", group, keeper.id)
          .isEqualTo(model.blocks(keeper, group).size());
    }
    assertThat(holder.isDead()).isEqualTo(keeper.dead);
    if (!keeper.dead) {
      assertThat(holder.undecided()).isEqualTo(model.undecided(keeper));
      assertThat(index.owners().owner(holder.visible())).isEqualTo(holder.owner());
    }
  }

  private static void checkEqual(Journal one, Journal other) {
    assertThat(one.size()).isEqualTo(other.size());
    for (int i = 0; i < one.size(); i++) {
      assertThat(described(one, i)).as("change %d", i).isEqualTo(described(other, i));
    }
  }

  /** All but the numbering of slots and sets. */
  private static List<Object> described(Journal journal, int change) {
    long word = journal.get(change, Journal.WORD);
    long[] counts = journal.counts(change);
    OwnerSet set = journal.set(change);
    // A number of a context is a small one, but which is a matter of what came before only.
    return Arrays.asList(
        journal.existed(change),
        journal.exists(change),
        journal.space(change),
        journal.get(change, Journal.HASH),
        journal.get(change, Journal.KEY),
        journal.get(change, Journal.CONTEXT),
        journal.get(change, Journal.LOCAL),
        journal.get(change, Journal.PARENT),
        word < 0 ? word & ~Blocks.LOW : word,
        set == null ? 0 : bits(set.words),
        counts == null ? List.of() : Arrays.stream(counts).boxed().toList());
  }

  private static int bits(long[] words) {
    return Arrays.stream(words).mapToInt(Long::bitCount).sum();
  }

  private void checkNothingIsLeft(RandomBlocks both) {
    both.model.live().forEach(both::kill);
    while (both.model.isToSweep()) {
      both.afterRecord(both.shape.unheld());
    }
    both.reals.forEach(real -> check(both, real));
    for (int unheld = both.shape.unheld(); unheld >= 0; unheld -= 1 + unheld / 10) {
      both.afterRecord(unheld);
      both.reals.forEach(
          real -> assertThat(real.blocks.names()).isEqualTo(both.model.names.size()));
    }
    assertThat(both.model.names).isEmpty();
    for (Real real : both.reals) {
      check(both, real);
      assertThat(real.blocks.names()).isZero();
      assertThat(real.blocks.contexts.count()).isZero();
      assertThat(real.blocks.counts.size()).isZero();
      assertThat(real.blocks.aliases()).isZero();
      assertThat(real.gone).hasSameSizeAs(both.model.keepers.keySet());
      for (int table : both.model.tables()) {
        IndexFigures figures = real.index(table).figures();
        assertThat(figures.blocks()).isZero();
        assertThat(real.index(table).sets().count()).isZero();
        assertThat(figures.owners()).isZero();
        checkSlotsAreUsedAgain(real.blocks, table, real.index(table));
      }
    }
  }

  private static void checkSlotsAreUsedAgain(Blocks blocks, int table, PrefixIndex index) {
    blocks.swap(new Journal(new Journal.Pieces()));
    int slots = index.owners().slots();
    Set<Integer> again = new HashSet<>();
    for (int i = 0; i < slots; i++) {
      again.add(blocks.addHolder(table, 1_000_000 + i, Walks.owner("again")).visible());
    }
    assertThat(again).as("slots that were all used before").hasSize(slots);
    assertThat(again.stream().mapToInt(slot -> slot).max().orElse(0)).isLessThan(slots);
  }
}
