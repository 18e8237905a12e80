// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.streams.index.BlocksModel.Copies;
import io.kvindex.streams.index.BlocksModel.Keeper;
import io.kvindex.streams.index.BlocksModel.Meaning;
import io.kvindex.streams.index.BlocksModel.Name;
import io.kvindex.streams.index.BlocksModel.Part;
import io.kvindex.streams.index.BlocksModel.SpaceOf;
import io.kvindex.streams.index.BlocksModel.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;

/** Random records, each done to a model and to any number of real {@link Blocks}. */
final class RandomBlocks {

  /**
   * @param hashes of how many hashes names are
   * @param keepers live owners of a table at most
   * @param unheld names nobody holds that are kept
   * @param contexts one more than contexts there may be
   * @param firstPlace where the ring begins
   */
  record Shape(int hashes, int keepers, int unheld, int contexts, long firstPlace) {}

  private static final int MOST_TABLES = 3;
  private static final int GROUPS = 4;

  /** One of the real ones. */
  static final class Real {
    final Blocks blocks;
    final Map<Integer, PrefixIndex> indexes = new HashMap<>();
    final Map<Integer, Holder> holders = new HashMap<>();
    final List<Integer> gone = new ArrayList<>();
    int spaces;

    Real(Shape shape, Journal journal) {
      blocks = new Blocks(new Epochs(4), journal, shape.contexts);
      blocks.ring.restore(shape.firstPlace, shape.firstPlace);
    }

    Holder holder(int id) {
      return Objects.requireNonNull(holders.get(id));
    }

    PrefixIndex index(int table) {
      return Objects.requireNonNull(indexes.get(table));
    }

    void find(Name name) {
      Assertions.assertThat(blocks.find(name.space(), name.hash())).isTrue();
    }
  }

  final BlocksModel model;
  final List<Real> reals = new ArrayList<>();
  final Shape shape;
  private final Random random;
  private final List<Name> everNamed = new ArrayList<>();
  private final Set<Name> seen = new HashSet<>();
  private final List<Integer> gone = new ArrayList<>();
  private final long[] keys;
  private int nextKeeper = 1;
  private int disturbed = -1;
  private BiConsumer<RandomBlocks, Real> disturbance = (blocks, real) -> {};

  /** How often it did what. */
  final Map<String, Integer> done = new HashMap<>();

  RandomBlocks(Random random, Shape shape, Journal... journals) {
    this.random = random;
    this.shape = shape;
    model = new BlocksModel(shape.contexts, shape.firstPlace);
    for (Journal journal : journals) {
      reals.add(new Real(shape, journal));
    }
    keys = random.longs(shape.hashes).toArray();
    addTable();
  }

  long[] keys() {
    return keys;
  }

  List<Name> everNamed() {
    return everNamed;
  }

  List<Integer> gone() {
    return gone;
  }

  /** One record: a few changes, then what is done after each record. */
  void record() {
    for (int i = random.nextInt(5); i >= 0; i--) {
      change();
    }
    afterRecord(shape.unheld);
  }

  void afterRecord(int unheld) {
    model.trim(unheld);
    gone.addAll(model.sweep());
    each(real -> real.blocks.trim(unheld));
    each(real -> real.blocks.sweep(holder -> real.gone.add(holder.id())));
  }

  private void change() {
    int dice = random.nextInt(1_000);
    if (dice < 330) {
      store();
    } else if (dice < 700) {
      setSome();
    } else if (dice < 850) {
      teachAnew();
    } else if (dice < 910) {
      keep();
    } else if (dice < 950) {
      addKeeper();
    } else if (dice < 962) {
      addGroup();
    } else if (dice < 985) {
      kill();
    } else if (dice < 997) {
      clear();
    } else if (model.tables().size() < MOST_TABLES) {
      addTable();
    } else if (model.spaces.size() < 5 * MOST_TABLES) {
      addSpace(oneOf(new ArrayList<>(model.tables())), model.spaces.size() * 5 % 7);
    }
  }

  private void count(String what) {
    done.merge(what, 1, Integer::sum);
  }

  /** Has something done to one of the real ones before each change of it. */
  void disturb(int number, BiConsumer<RandomBlocks, Real> what) {
    disturbed = number;
    disturbance = what;
  }

  private void each(Consumer<Real> action) {
    for (int i = 0; i < reals.size(); i++) {
      if (i == disturbed) {
        disturbance.accept(this, reals.get(i));
      }
      action.accept(reals.get(i));
    }
  }

  private <T> T oneOf(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void addTable() {
    int ref = model.tables().size() + 1;
    model.addTable(ref);
    each(real -> real.indexes.put(ref, real.blocks.addTable(ref)));
    for (int kind = 0; kind < 4; kind++) {
      addSpace(ref, kind);
    }
    addKeeper();
  }

  /** Two of a table have names of the same context, like those of one namespace. */
  private void addSpace(int table, int kind) {
    long nameContext = kind < 2 ? 77L << 50 | table : random.nextLong();
    SpaceOf space = new SpaceOf(model.spaces.size() + 1, table, kind < 3, nameContext);
    model.addSpace(space);
    each(
        real -> {
          real.blocks.addSpace(space.ref(), table, space.byName(), space.nameContext());
          real.spaces = space.ref();
        });
    count("spaces");
  }

  private void addKeeper() {
    int table = oneOf(new ArrayList<>(model.tables()));
    if (liveOf(table).size() >= shape.keepers) {
      return;
    }
    int id = nextKeeper++;
    int group = random.nextInt(3) == 0 ? random.nextInt(GROUPS) : 0;
    Keeper keeper = model.addKeeper(id, table, group);
    each(
        real ->
            real.holders.put(
                id, real.blocks.addHolder(table, id, Walks.owner(Integer.toString(id)))));
    while (random.nextInt(4) == 0) {
      addGroupTo(keeper);
    }
    count("owners");
  }

  private List<Keeper> liveOf(int table) {
    return model.live().stream().filter(keeper -> keeper.table == table).toList();
  }

  private @Nullable Keeper liveOne() {
    List<Keeper> live = model.live();
    return live.isEmpty() ? null : oneOf(live);
  }

  private void addGroup() {
    Keeper keeper = liveOne();
    if (keeper != null) {
      int former = keeper.groups.iterator().next();
      addGroupTo(keeper);
      // Some blocks go while what it had whole before is not swept yet.
      for (Name name : model.held(keeper, former).stream().limit(5).toList()) {
        for (int group : keeper.groups) {
          setCopies(name, new Part(keeper.id, group), Copies.NONE);
        }
      }
    }
  }

  private void addGroupTo(Keeper keeper) {
    int group = random.nextInt(GROUPS);
    if (!keeper.groups.contains(group)) {
      int former = keeper.groups.iterator().next();
      model.addGroup(keeper, group);
      each(real -> real.blocks.addGroup(real.holder(keeper.id), former, group));
      count("groups");
    }
  }

  private void kill() {
    Keeper keeper = liveOne();
    if (keeper != null) {
      kill(keeper);
    }
  }

  void kill(Keeper keeper) {
    model.kill(keeper);
    each(real -> real.blocks.kill(real.holder(keeper.id)));
    count("deaths");
  }

  private Name anyName(int table) {
    SpaceOf space = oneOf(model.spacesOf(table));
    long number = random.nextInt(shape.hashes);
    // One after the other, and spread.
    long hash = number % 4 == 0 ? number * 0xD1B54A32D192ED03L : number;
    return new Name(space.ref(), hash);
  }

  private @Nullable Name knownName() {
    // A few tries: names that were forgotten are among them.
    for (int i = 0; i < 20 && !everNamed.isEmpty(); i++) {
      Name name = oneOf(everNamed);
      if (model.names.containsKey(name)) {
        return name;
      }
    }
    return null;
  }

  private Meaning anyMeaning(Name name) {
    SpaceOf space = Objects.requireNonNull(model.spaces.get(name.space()));
    long key = keys[random.nextInt(keys.length)];
    if (space.byName()
        && space.nameContext() != (77L << 50 | space.table())
        && random.nextInt(3) == 0) {
      key = name.hash() ^ space.nameContext(); // the name is the lookup key
    }
    long context = random.nextInt(3) == 0 ? 0 : random.nextInt(12) * 0x1000_0001L;
    int depth = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(50);
    return new Meaning(
        key, context, depth, random.nextLong(), random.nextLong(), random.nextBoolean());
  }

  /** Whether it is taught now. */
  private boolean teach(Name name, Meaning meaning) {
    boolean known = model.names.containsKey(name);
    boolean taught = model.teach(name, meaning);
    each(
        real ->
            Assertions.assertThat(
                    real.blocks.teach(
                        name.space(),
                        name.hash(),
                        meaning.key(),
                        meaning.context(),
                        meaning.depth(),
                        meaning.local(),
                        meaning.parent(),
                        meaning.byDevice()))
                .isEqualTo(taught));
    if (taught && !known && seen.add(name)) {
      everNamed.add(name);
    }
    count(taught ? known ? "taught anew" : "taught" : "refused");
    return taught;
  }

  private void store() {
    Keeper keeper = liveOne();
    if (keeper == null) {
      return;
    }
    Name name = anyName(keeper.table);
    State known = model.names.get(name);
    if (known != null || teach(name, anyMeaning(name))) {
      if (known != null && random.nextBoolean()) {
        teach(name, known.meaning); // once more, as engines do
      } else if (known == null && random.nextInt(8) == 0) {
        teach(name, anyMeaning(name)); // what is not there yet is taught otherwise
      }
      Copies copies = random.nextInt(6) == 0 ? new Copies(0, 1) : new Copies(1, 0);
      setCopies(name, new Part(keeper.id, oneOf(new ArrayList<>(keeper.groups))), copies);
      for (int group : keeper.groups) {
        if (random.nextBoolean()) {
          setCopies(name, new Part(keeper.id, group), new Copies(1, 0));
        }
      }
    }
  }

  /** More, fewer or no copies of a name for somebody, mostly for one who has some. */
  private void setSome() {
    Name name = knownName();
    if (name == null) {
      return;
    }
    List<Part> parts =
        new ArrayList<>(
            model.state(name).copies.keySet().stream()
                .filter(part -> !model.keeper(part.owner()).dead)
                .sorted(java.util.Comparator.comparing(Part::toString))
                .toList());
    if (parts.isEmpty() || random.nextInt(6) == 0) {
      List<Keeper> live = liveOf(model.tableOf(name));
      if (live.isEmpty()) {
        return;
      }
      Keeper keeper = oneOf(live);
      parts = List.of(new Part(keeper.id, oneOf(new ArrayList<>(keeper.groups))));
    }
    Copies copies =
        switch (random.nextInt(8)) {
          case 0 -> new Copies(0, 1 + random.nextInt(2));
          case 1 -> new Copies(2 + random.nextInt(2), random.nextInt(2));
          case 2 -> new Copies(1, random.nextInt(2));
          case 3 -> new Copies(Integer.MAX_VALUE, Integer.MAX_VALUE);
          default -> Copies.NONE;
        };
    if (random.nextInt(3) == 0 && copies.equals(Copies.NONE)) {
      for (Part part : parts) { // nobody has it any more
        setCopies(name, part, copies);
      }
    } else {
      setCopies(name, oneOf(parts), copies);
    }
  }

  private void setCopies(Name name, Part part, Copies copies) {
    Keeper keeper = model.keeper(part.owner());
    model.setCopies(name, part, copies);
    long groups = keeper.isGrouped() || part.group() % 2 == 0 ? keeper.mask() : 0;
    each(
        real -> {
          real.find(name);
          real.blocks.setCopies(
              real.holder(keeper.id), part.group(), groups, copies.certain(), copies.undecided());
        });
    count("copies set");
  }

  private void teachAnew() {
    Name name = knownName();
    if (name != null) {
      Meaning now = model.state(name).meaning;
      Meaning other = anyMeaning(name);
      teach(
          name,
          random.nextInt(3) > 0
              ? other
              : new Meaning(
                  now.key(), other.context(), 0, now.local(), now.parent(), other.byDevice()));
    }
  }

  private void keep() {
    Name name = anyName(oneOf(new ArrayList<>(model.tables())));
    if (model.names.containsKey(name) || teach(name, anyMeaning(name))) {
      List<Keeper> live = liveOf(model.tableOf(name));
      Keeper keeper = live.isEmpty() ? null : oneOf(live);
      int group = keeper == null ? 0 : keeper.groups.iterator().next();
      boolean none =
          keeper != null
              && model.state(name).of(keeper.id, group).equals(Copies.NONE)
              && random.nextInt(3) == 0;
      if (keeper != null && none) {
        setCopies(name, new Part(keeper.id, group), Copies.NONE); // said of who has none
      } else {
        model.keep(name);
        each(
            real -> {
              real.find(name);
              real.blocks.keep();
            });
      }
      count("kept");
    }
  }

  /** One loses all it has for certain, or is said to have it perhaps only. */
  private void clear() {
    Keeper keeper = liveOne();
    if (keeper == null) {
      return;
    }
    int group = random.nextInt(GROUPS);
    if (!keeper.groups.contains(group)) {
      group = keeper.groups.iterator().next();
    }
    int of = group;
    Copies copies = random.nextInt(3) == 0 ? new Copies(0, 1) : Copies.NONE;
    List<Name> held = model.held(keeper, of);
    held.forEach(name -> model.setCopies(name, new Part(keeper.id, of), copies));
    each(
        real -> {
          List<Name> taken = new ArrayList<>();
          Holder holder = real.holder(keeper.id);
          real.blocks.forEach(
              holder,
              of,
              (space, hash) -> {
                taken.add(new Name(space, hash));
                real.blocks.setCopies(
                    holder, of, keeper.mask(), copies.certain(), copies.undecided());
              });
          Assertions.assertThat(taken).containsExactlyElementsOf(held);
        });
    count("cleared");
  }
}
