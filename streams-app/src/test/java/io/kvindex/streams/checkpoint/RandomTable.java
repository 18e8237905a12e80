// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.Incarnation;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.BlocksDump;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Owner;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * A fold whose records are random operations: what record n does depends on the seed, on n and on
 * what is in the table. A stand-in for the rules, with dictionaries of its own.
 */
final class RandomTable {

  /** Of the log checkpoints are of. */
  static final Uuid TOPIC = new Uuid(7, 8);

  /** Engine hashes there are in a space of most tables. */
  static final int HASHES = 3_000;

  /** Small, so that it bites. */
  static final int UNHELD = 100;

  private static final int TABLES = 2;
  private static final int MOST_HOLDERS = 10;
  private static final int GROUPS = 4;
  private static final int RUN = 12;

  /** Neither makes of one hash another, as contexts and keys do not. */
  private static final long SHARED_KEY = 0x5AAAAAAA00000000L;

  private static final long NAME_CONTEXT = 0x1357000000000000L;

  /** A holder and what rules know of it. */
  private static final class Known {
    final int table;
    final int id;
    final int first;
    final Holder holder;
    long groups;
    boolean alive = true;

    Known(int table, int id, int first, Holder holder) {
      this.table = table;
      this.id = id;
      this.first = first;
      this.holder = holder;
      groups = 1L << first;
    }
  }

  private final long seed;
  private final int hashes;
  private final Blocks blocks;
  private final TreeSet<Integer> tables = new TreeSet<>();
  private final TreeMap<Integer, Integer> spaces = new TreeMap<>();
  private final TreeMap<Integer, Known> holders = new TreeMap<>();
  private int nextId;
  private int dying;
  private long records;

  /** Times the name last worked on was one that dead owners alone held, and the like. */
  final TreeMap<String, Integer> seen = new TreeMap<>();

  /**
   * @param hashes engine hashes there are in a space
   */
  RandomTable(long seed, int hashes, Blocks blocks) {
    this.seed = seed;
    this.hashes = hashes;
    this.blocks = blocks;
  }

  static Blocks newBlocks() {
    return new Blocks(new Epochs(), io.kvindex.streams.index.Journal.none());
  }

  /** What a checkpoint has of a table of {@link #HASHES}. */
  static RandomTable load(Checkpoint checkpoint, long seed) throws Exception {
    RandomTable table = new RandomTable(seed, HASHES, newBlocks());
    checkpoint.load(table.blocks, table::load, Progress.NONE);
    return table;
  }

  /** What record n-1 was; -1 = there was none. */
  long offset() {
    return records - 1;
  }

  Folded folded() {
    return new Folded(offset(), offset() * 31 + seed, 0);
  }

  Blocks blocks() {
    return blocks;
  }

  /** What is not as in another, one line each; empty = they are equal. */
  List<String> differences(RandomTable other) {
    List<String> mine = dump();
    List<String> theirs = other.dump();
    Set<String> both = new HashSet<>(mine);
    both.retainAll(theirs);
    return Stream.concat(
            mine.stream().filter(line -> !both.contains(line)).map(line -> "here " + line),
            theirs.stream().filter(line -> !both.contains(line)).map(line -> "there " + line))
        .limit(20)
        .toList();
  }

  private List<String> dump() {
    List<String> lines = BlocksDump.of(blocks, spaces.keySet());
    holders.values().forEach(h -> lines.add("rules " + h.id + " " + h.groups + " " + h.alive));
    return lines;
  }

  // ------------------------------------------------------------------- records

  /** Folds the next record. */
  void fold() {
    SplittableRandom random = new SplittableRandom(seed * 31 + records * 0xD1342543DE82EF95L);
    records++;
    if (tables.size() < TABLES && random.nextInt(40) == 0 || tables.isEmpty()) {
      addTable();
    }
    int what = random.nextInt(100);
    Known holder = live(random);
    if (holder == null || what < 4 && holders.size() < MOST_HOLDERS) {
      addHolder(random);
    } else if (what < 6) {
      kill(holder);
    } else if (what < 9) {
      addGroup(holder, random.nextInt(GROUPS));
    } else if (what < 10) {
      clear(holder, random);
    } else {
      int space = spaceOf(holder.table, random);
      int first = random.nextInt(hashes);
      for (int i = 0; i < 1 + random.nextInt(RUN); i++) {
        name(random, holder, space, mix(first + i));
      }
    }
    blocks.trim(UNHELD);
    if (dying > 0) {
      seen.merge("records beside a sweep", 1, Integer::sum);
    }
    blocks.sweep(this::gone);
    put('R', 0, ByteBuffer.allocate(12).putLong(records).putInt(nextId).array());
  }

  /** Spread as engines' hashes are, some of them near each other. */
  private static long mix(long number) {
    return number % 5 == 0 ? number + 1 : number * 0xD6E8FEB86659FD93L ^ number << 32;
  }

  private void name(SplittableRandom random, Known of, int space, long hash) {
    Holder holder = of.holder;
    int group = groupOf(of, random);
    boolean known = blocks.find(space, hash);
    int what = random.nextInt(20);
    if (!known || what == 0) {
      // A key of several names now and then, one of another space, too.
      long key = random.nextInt(6) == 0 ? SHARED_KEY + random.nextInt(hashes / 4) : hash;
      long context = random.nextInt(3) == 0 ? random.nextInt(20) : 0;
      boolean device = random.nextBoolean();
      long local = random.nextInt(4) == 0 ? 0 : random.nextLong();
      long parent = random.nextInt(3) == 0 ? 0 : mix(random.nextInt(hashes));
      int depth = random.nextInt(30) == 0 ? 1 << 17 : random.nextInt(1000);
      blocks.teach(space, hash, key, context, depth, local, parent, device);
      if (random.nextInt(8) == 0) {
        blocks.keep();
        return;
      }
    }
    int certain = 1;
    int undecided = 0;
    if (what < 9 && known) {
      certain = 0;
    } else if (what == 10) {
      certain = 2 + random.nextInt(3);
    } else if (what == 11) {
      undecided = 1 + random.nextInt(200);
    } else if (what == 12) {
      certain = 0;
      undecided = 1;
    }
    blocks.setCopies(holder, group, of.groups, certain, undecided);
    if (certain == 0 && undecided == 0) {
      blocks.keep();
    }
  }

  private static int groupOf(Known of, SplittableRandom random) {
    int group;
    do {
      group = random.nextInt(GROUPS);
    } while ((of.groups & 1L << group) == 0);
    return group;
  }

  private void clear(Known of, SplittableRandom random) {
    int group = groupOf(of, random);
    blocks.forEach(
        of.holder, group, (space, hash) -> blocks.setCopies(of.holder, group, of.groups, 0, 0));
  }

  private void addTable() {
    int ref = tables.size();
    tables.add(ref);
    blocks.addTable(ref);
    put('A', ref, new byte[0]);
    // In an order that is not that of their numbers.
    addSpace(2 * ref + 1, ref);
    addSpace(2 * ref, ref);
  }

  private void addSpace(int ref, int table) {
    spaces.put(ref, table);
    blocks.addSpace(ref, table, ref % 3 == 0, (ref + 1) * 0x5851F42D4C957F2DL);
    put('B', ref, ByteBuffer.allocate(4).putInt(table).array());
  }

  private int spaceOf(int table, SplittableRandom random) {
    return 2 * table + random.nextInt(2);
  }

  private @Nullable Known live(SplittableRandom random) {
    List<Known> live = holders.values().stream().filter(h -> h.alive).toList();
    return live.isEmpty() ? null : live.get(random.nextInt(live.size()));
  }

  private void addHolder(SplittableRandom random) {
    int of = random.nextInt(tables.size());
    int id = nextId++;
    Holder holder = blocks.addHolder(of, id, owner(id));
    Known known = new Known(of, id, random.nextInt(GROUPS), holder);
    holders.put(id, known);
    put(known);
  }

  private static Owner owner(int id) {
    return new Owner("t", "i" + id, 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
  }

  private void addGroup(Known of, int group) {
    if ((of.groups & 1L << group) == 0) {
      blocks.addGroup(of.holder, of.first, group);
      of.groups |= 1L << group;
      seen.merge("groups", 1, Integer::sum);
      put(of);
    }
  }

  private void kill(Known of) {
    blocks.kill(of.holder);
    dying++;
    of.alive = false;
    put(of);
  }

  private void gone(Holder holder) {
    dying--;
    seen.merge("holders gone", 1, Integer::sum);
    holders.remove(holder.id());
    blocks.journal().put(key('C', holder.id()), null);
  }

  // ------------------------------------------------------------------- rows

  private void put(Known of) {
    put(
        'C',
        of.id,
        ByteBuffer.allocate(17)
            .putInt(of.table)
            .putInt(of.first)
            .putLong(of.groups)
            .put((byte) (of.alive ? 1 : 0))
            .array());
  }

  private void put(char kind, int ref, byte[] value) {
    blocks.journal().put(key(kind, ref), value);
  }

  private static Bytes key(char kind, int ref) {
    return Bytes.wrap(ByteBuffer.allocate(5).put((byte) kind).putInt(ref).array());
  }

  void load(SortedMap<Bytes, byte[]> rows) {
    rows.forEach((key, value) -> row(key.get(), value));
  }

  private void row(byte[] key, byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(key);
    char kind = (char) in.get();
    int ref = in.getInt();
    ByteBuffer of = ByteBuffer.wrap(value);
    switch (kind) {
      case 'A' -> {
        tables.add(ref);
        blocks.addTable(ref);
      }
      case 'B' -> {
        int table = of.getInt();
        spaces.put(ref, table);
        blocks.addSpace(ref, table, ref % 3 == 0, (ref + 1) * 0x5851F42D4C957F2DL);
      }
      case 'C' -> {
        int inTable = of.getInt();
        Known known =
            new Known(inTable, ref, of.getInt(), blocks.addHolder(inTable, ref, owner(ref)));
        known.groups = of.getLong();
        known.alive = of.get() != 0;
        holders.put(ref, known);
      }
      default -> {
        records = of.getLong();
        nextId = of.getInt();
      }
    }
  }

  /** Runs it up to an offset. */
  void foldTo(long offset, Consumer<RandomTable> after) {
    while (offset() < offset) {
      fold();
      after.accept(this);
    }
  }
}
