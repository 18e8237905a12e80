// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What {@link Blocks} must do, by maps that are searched through. */
final class BlocksModel {

  /** Places of the ring are told apart by so many bits, and one value says that there is none. */
  static final long PLACES = 1L << 25;

  record Name(int space, long hash) {}

  record Part(int owner, int group) {}

  record Copies(int certain, int undecided) {
    static final Copies NONE = new Copies(0, 0);

    boolean isUndecided() {
      return certain == 0 && undecided > 0;
    }
  }

  record Meaning(long key, long context, int depth, long local, long parent, boolean byDevice) {}

  record SpaceOf(int ref, int table, boolean byName, long nameContext) {

    /** Keys queries find a block of it under. */
    Set<Long> keys(long hash, long key) {
      return byName ? new TreeSet<>(List.of(key, hash ^ nameContext)) : Set.of(key);
    }
  }

  /** Where a name stands among those nobody holds. */
  private record Place(@Nullable Name name, long number) {}

  /** A name: what it means, and who has it. */
  static final class State {
    Meaning meaning;
    final Map<Part, Copies> copies = new HashMap<>();
    private @Nullable Place place;

    State(Meaning meaning) {
      this.meaning = meaning;
    }

    Copies of(int owner, int group) {
      return copies.getOrDefault(new Part(owner, group), Copies.NONE);
    }

    boolean isHeld() {
      return copies.values().stream().anyMatch(copies -> copies.certain > 0);
    }

    boolean isUnheld() {
      return place != null;
    }

    long place() {
      return Objects.requireNonNull(place).number;
    }
  }

  static final class Keeper {
    final int id;
    final int table;
    final Set<Integer> groups = new TreeSet<>();
    boolean dead;
    boolean gone;

    Keeper(int id, int table, int group) {
      this.id = id;
      this.table = table;
      groups.add(group);
    }

    boolean isGrouped() {
      return groups.size() > 1;
    }

    long mask() {
      return groups.stream().mapToLong(group -> 1L << group).sum();
    }

    boolean hasWhole(State state) {
      return groups.stream().allMatch(group -> state.of(id, group).certain > 0);
    }
  }

  /** What waits to be swept: an owner's blocks of a group, or those it had whole once. */
  private record Slot(Keeper keeper, boolean former) {}

  private static final class Sweeping {
    List<Slot> dying = new ArrayList<>();
    List<Slot> round = new ArrayList<>();
    int bits;
    int range;
  }

  final Map<Name, State> names = new HashMap<>();
  final Map<Integer, SpaceOf> spaces = new TreeMap<>();
  final Map<Integer, Keeper> keepers = new TreeMap<>();
  private final Map<Integer, Sweeping> tables = new TreeMap<>();
  private final Deque<Place> ring = new ArrayDeque<>();
  private final int mostContexts;
  private long tail;

  /**
   * @param mostContexts one more than there may be beside 0
   * @param firstPlace where the ring begins
   */
  BlocksModel(int mostContexts, long firstPlace) {
    this.mostContexts = mostContexts;
    tail = firstPlace;
  }

  void addTable(int ref) {
    tables.put(ref, new Sweeping());
  }

  void addSpace(SpaceOf space) {
    spaces.put(space.ref, space);
  }

  Set<Integer> tables() {
    return tables.keySet();
  }

  List<SpaceOf> spacesOf(int table) {
    return spaces.values().stream().filter(space -> space.table == table).toList();
  }

  int tableOf(Name name) {
    return Objects.requireNonNull(spaces.get(name.space)).table;
  }

  State state(Name name) {
    return Objects.requireNonNull(names.get(name));
  }

  Keeper keeper(int id) {
    return Objects.requireNonNull(keepers.get(id));
  }

  Keeper addKeeper(int id, int table, int group) {
    Keeper keeper = new Keeper(id, table, group);
    keepers.put(id, keeper);
    return keeper;
  }

  List<Keeper> live() {
    return keepers.values().stream().filter(keeper -> !keeper.dead).toList();
  }

  void addGroup(Keeper keeper, int group) {
    boolean hasWhole = names.values().stream().anyMatch(state -> keeper.hasWhole(state));
    if (keeper.isGrouped() && hasWhole) {
      sweeping(keeper.table).dying.add(new Slot(keeper, true));
    }
    keeper.groups.add(group);
  }

  void kill(Keeper keeper) {
    keeper.dead = true;
    int slots = keeper.isGrouped() ? 1 + keeper.groups.size() : 1;
    for (int i = 0; i < slots; i++) {
      sweeping(keeper.table).dying.add(new Slot(keeper, false));
    }
  }

  private Sweeping sweeping(int table) {
    return Objects.requireNonNull(tables.get(table));
  }

  /** Whether there is a number left for its context. */
  boolean teach(Name name, Meaning meaning) {
    if (meaning.context != 0
        && names.values().stream().noneMatch(s -> s.meaning.context == meaning.context)
        && contexts() == mostContexts - 1) {
      return false;
    }
    State known = names.get(name);
    if (known == null) {
      names.put(name, new State(meaning));
    } else {
      known.meaning = meaning;
    }
    return true;
  }

  /** Beside 0. */
  private long contexts() {
    return names.values().stream()
        .mapToLong(state -> state.meaning.context)
        .filter(context -> context != 0)
        .distinct()
        .count();
  }

  void keep(Name name) {
    settle(name, state(name));
  }

  void setCopies(Name name, Part part, Copies copies) {
    State state = state(name);
    if (copies.equals(Copies.NONE)) {
      state.copies.remove(part);
    } else {
      state.copies.put(part, copies);
    }
    settle(name, state);
  }

  private void settle(Name name, State state) {
    if (!state.copies.isEmpty()) {
      state.place = null;
    } else if (state.place == null) {
      if (tail % PLACES == PLACES - 1) {
        ring.add(new Place(null, tail++));
      }
      state.place = new Place(name, tail++);
      ring.add(state.place);
    }
  }

  void trim(int bound) {
    while (ring.size() > bound) {
      Place oldest = ring.remove();
      State state = oldest.name == null ? null : names.get(oldest.name);
      if (state != null && state.place == oldest) {
        names.remove(oldest.name);
      }
    }
  }

  long ringHead() {
    return tail - ring.size();
  }

  long ringTail() {
    return tail;
  }

  boolean isToSweep() {
    return tables.values().stream().anyMatch(t -> !t.dying.isEmpty() || !t.round.isEmpty());
  }

  /** Owners none of whose blocks is left now, in their order. */
  List<Integer> sweep() {
    List<Integer> gone = new ArrayList<>();
    tables.forEach(
        (ref, table) -> {
          if (table.round.isEmpty() && !table.dying.isEmpty()) {
            table.round = table.dying;
            table.dying = new ArrayList<>();
            long size = names.keySet().stream().filter(name -> tableOf(name) == ref).count();
            table.bits = 1;
            while (size >>> table.bits > 256) {
              table.bits++;
            }
            table.range = 0;
          }
          int steps = 1 + (table.round.size() + table.dying.size()) / 8;
          for (int i = 0; i < steps && !table.round.isEmpty(); i++) {
            step(ref, table, gone);
          }
        });
    return gone;
  }

  private void step(int ref, Sweeping table, List<Integer> gone) {
    names.keySet().stream()
        .filter(name -> tableOf(name) == ref)
        .filter(name -> NameTable.mix(name.hash) >>> 64 - table.bits == table.range)
        .sorted(IN_ORDER)
        .toList()
        .forEach(
            name -> {
              State state = state(name);
              for (Slot slot : table.round) {
                if (!slot.former) {
                  state.copies.keySet().removeIf(part -> part.owner == slot.keeper.id);
                }
              }
              settle(name, state);
            });
    if (++table.range == 1 << table.bits) {
      for (Slot slot : table.round) {
        if (!slot.former && !slot.keeper.gone) {
          slot.keeper.gone = true;
          gone.add(slot.keeper.id);
        }
      }
      table.round = new ArrayList<>();
    }
  }

  /** Names are gone through in the order of their mixed hashes, one space after the other. */
  static final Comparator<Name> IN_ORDER =
      Comparator.comparingInt(Name::space).thenComparingLong(name -> NameTable.mix(name.hash));

  /** Names an owner has certain copies of. */
  List<Name> held(Keeper keeper, int group) {
    return names.keySet().stream()
        .filter(name -> state(name).of(keeper.id, group).certain > 0)
        .sorted(IN_ORDER)
        .toList();
  }

  /** Live owners of each key of a table, as queries must see them. */
  Map<Long, Set<Integer>> visible(int table) {
    Map<Long, Set<Integer>> visible = new HashMap<>();
    names.forEach(
        (name, state) -> {
          SpaceOf space = Objects.requireNonNull(spaces.get(name.space));
          if (space.table == table) {
            for (Part part : state.copies.keySet()) {
              Keeper keeper = keeper(part.owner);
              if (!keeper.dead && keeper.hasWhole(state)) {
                for (long key : space.keys(name.hash, state.meaning.key)) {
                  visible.computeIfAbsent(key, k -> new TreeSet<>()).add(keeper.id);
                }
              }
            }
          }
        });
    return visible;
  }

  /** Blocks, each counted once, an owner has of a group, -1 = of all groups it uses. */
  Set<Long> blocks(Keeper keeper, int group) {
    Set<Long> keys = new HashSet<>();
    for (State state : names.values()) {
      if (group < 0 ? keeper.hasWhole(state) : state.of(keeper.id, group).certain > 0) {
        keys.add(state.meaning.key);
      }
    }
    return keys;
  }

  int undecided(Keeper keeper) {
    int sum = 0;
    for (State state : names.values()) {
      for (int group : keeper.groups) {
        sum += state.of(keeper.id, group).isUndecided() ? 1 : 0;
      }
    }
    return sum;
  }
}
