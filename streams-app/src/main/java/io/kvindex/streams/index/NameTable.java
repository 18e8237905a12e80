// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What the engine hashes of one space mean, five longs each: hash, word, parent, lookup key, local
 * hash. Where a block has further names, as engines with a seed of their own give it, each of these
 * is three longs, and what it shares with the others is in {@link Contents}. Found entries are
 * worked on in place: {@link #find} and {@link #insert} leave the table at an entry, which {@link
 * #get}, {@link #setWord} and {@link #describe} read and write until the next insertion or removal.
 *
 * <p>Extendible hashing: a directory of segments, each with its entries in pieces that are added
 * and dropped one by one, so that none is copied as it grows, and a sparse array of 4-byte slots
 * that name them: some 46 bytes an entry, 30 a further name. For the table's writer alone.
 */
final class NameTable {

  /** Fields of an entry; a further name has the first three. */
  static final int HASH = 0;

  static final int WORD = 1;
  static final int PARENT = 2;
  static final int KEY = 3;
  static final int LOCAL = 4;
  private static final int WIDTH = 5;
  private static final int FURTHER_WIDTH = 3;

  /** Of a word: depth and context, in place of which a further name has its content. */
  private static final int SHARED_AT = Blocks.CONTEXT_AT;

  private static final long SHARED = Contents.MOST << SHARED_AT;

  /** A segment splits at 4,096 to 7,680 entries, by its hashes, so that not all do so at a time. */
  private static final int UNIT = 4096;

  private static final int CLASS_BITS = 3;

  /** Enough for a billion names; hashes made to begin alike must not make the directory larger. */
  private static final int MAX_DEPTH = 18;

  /** Entries of a piece. */
  private static final int PIECE_BITS = 7;

  private static final int PIECE = 1 << PIECE_BITS;

  /** Entries of a segment's first piece, which grows, before it does. */
  private static final int SMALLEST = 16;

  /** Of a slot: the entry's number + 1; what is left is part of its hash. */
  private static final int NUMBER_BITS = 13;

  private static final int NUMBER = (1 << NUMBER_BITS) - 1;

  /** Of a slot: its entry is a further name. */
  private static final int FURTHER = 1 << NUMBER_BITS;

  private static final int TAG_AT = NUMBER_BITS + 1;
  private static final int TAG_BITS = 32 - TAG_AT;

  private static final long[] NOTHING = {};
  private static final long[][] NO_PIECES = {};

  /** The entries of one width in a segment. */
  private static final class Entries {
    final int width;

    /** As many as there are entries for; one may be empty behind them. */
    long[][] pieces = NO_PIECES;

    int count;

    Entries(int width) {
      this.width = width;
    }

    long[] piece(int number) {
      return pieces[number >>> PIECE_BITS];
    }

    int offset(int number) {
      return (number & PIECE - 1) * width;
    }

    long hash(int number) {
      return piece(number)[offset(number)];
    }

    /** A number for one more entry, behind the others, all fields but the hash 0. */
    int append(long hash) {
      int number = count++;
      int piece = number >>> PIECE_BITS;
      int at = offset(number);
      if (piece == pieces.length) {
        pieces = Arrays.copyOf(pieces, piece + 1);
        pieces[piece] = new long[width * (piece == 0 ? SMALLEST : PIECE)];
      } else if (at == pieces[piece].length) {
        pieces[piece] = Arrays.copyOf(pieces[piece], 2 * at);
      }
      Arrays.fill(pieces[piece], at, at + width, 0);
      pieces[piece][at] = hash;
      return number;
    }

    void copy(int from, Entries other, int to) {
      System.arraycopy(piece(from), offset(from), other.piece(to), other.offset(to), width);
    }

    /** Drops a piece nobody needs but for one, as the next entry may come back to it. */
    void shrink() {
      int needed = (count + PIECE - 1 >>> PIECE_BITS) + 1;
      if (pieces.length > needed) {
        pieces = Arrays.copyOf(pieces, needed);
      }
    }

    long bytes() {
      long sum = 24;
      for (long[] piece : pieces) {
        sum += 4 + 16 + 8L * piece.length;
      }
      return sum;
    }
  }

  private static final class Segment {
    final Entries first = new Entries(WIDTH);
    final Entries further = new Entries(FURTHER_WIDTH);
    int[] slots;
    final int depth;

    /**
     * @param room entries there are slots for
     */
    Segment(int room, int depth) {
      slots = new int[slotsFor(room)];
      this.depth = depth;
    }

    int count() {
      return first.count + further.count;
    }

    Entries of(int slot) {
      return (slot & FURTHER) == 0 ? first : further;
    }

    /** Adds an entry, all fields but the hash 0; its number. */
    int append(Entries to, long mixed, long hash) {
      if (count() == room(slots.length)) {
        resize(count() + Math.max(8, count() >>> 3));
      }
      int number = to.append(hash);
      put(slots, slot(to, tag(mixed), number));
      return number;
    }

    int slot(Entries of, int tag, int number) {
      return tag << TAG_AT | (of == further ? FURTHER : 0) | number + 1;
    }

    void resize(int room) {
      int[] old = slots;
      slots = new int[slotsFor(room)];
      for (int slot : old) {
        if (slot != 0) {
          put(slots, slot);
        }
      }
    }
  }

  private final Contents contents;
  private Segment[] directory;
  private int shift;
  private Segment current;
  private Entries entries;

  /** The piece its entry is in, and where there. */
  private long[] piece = NOTHING;

  private int at;
  private int number;
  private long size;

  /**
   * @param contents what names share; of other tables, too
   */
  NameTable(Contents contents) {
    this.contents = contents;
    expect(0);
  }

  private static int slotsFor(int room) {
    return room + (room >>> 2) + 1;
  }

  /** For how many entries there are slots. */
  private static int room(int slots) {
    return slots - slots / 5 - 1;
  }

  private void goTo(Segment segment, Entries of, int entry) {
    current = segment;
    entries = of;
    number = entry;
    piece = of.piece(entry);
    at = of.offset(entry);
  }

  /**
   * Spreads hashes, which some engines number one after the other. Its order is that of {@link
   * #range}.
   */
  static long mix(long hash) {
    long mixed = hash * 0x9E3779B97F4A7C15L;
    mixed ^= mixed >>> 32;
    mixed *= 0xD6E8FEB86659FD93L;
    return mixed ^ mixed >>> 29;
  }

  private static int tag(long mixed) {
    return (int) mixed & (1 << TAG_BITS) - 1;
  }

  private static int home(int tag, int slots) {
    return (int) ((long) tag * slots >>> TAG_BITS);
  }

  private Segment segment(long mixed) {
    return directory[(int) (mixed >>> shift)];
  }

  /**
   * Makes room for so many entries, about; it has none yet. Growing would copy each of them ten
   * times.
   */
  void expect(long names) {
    int depth = CLASS_BITS;
    while (depth < MAX_DEPTH && withMargin(names >>> depth) > UNIT) {
      depth++;
    }
    directory = new Segment[1 << depth];
    shift = 64 - depth;
    for (int i = 0; i < directory.length; ) {
      int full = fullAt((long) i << shift);
      // Where a class of segments is larger, one does for two.
      int own = depth > CLASS_BITS && withMargin(names >>> depth - 1) <= full ? depth - 1 : depth;
      int room = (int) Math.min(full, Math.max(SMALLEST, withMargin(names >>> own)));
      int end = i + (1 << depth - own);
      Arrays.fill(directory, i, end, new Segment(room, own));
      i = end;
    }
    current = directory[0];
    entries = current.first;
    nowhere();
  }

  private void nowhere() {
    piece = NOTHING;
    number = Integer.MAX_VALUE;
  }

  /** Segments differ by chance. */
  private static long withMargin(long names) {
    return names + (names >>> 5) + 1;
  }

  /** Number of entries. */
  long size() {
    return size;
  }

  /**
   * Asks the memory for the slot {@link #find} of a hash looks at first. Changes nothing.
   *
   * @return to be kept alive, or the load would be left out
   */
  long touchSlot(long hash) {
    long mixed = mix(hash);
    int[] slots = segment(mixed).slots;
    return slots[home(tag(mixed), slots.length)];
  }

  /**
   * The same for its entry, or one that is like it by chance. Where there is none nothing is asked
   * for: most names of a store are new.
   *
   * @return its lookup key, 0 = there is none
   */
  long touchEntry(long hash) {
    long mixed = mix(hash);
    Segment segment = segment(mixed);
    int[] slots = segment.slots;
    int tag = tag(mixed);
    int taken = slots[probe(slots, tag, home(tag, slots.length))];
    if (taken == 0) {
      return 0;
    }
    Entries of = segment.of(taken);
    int entry = (taken & NUMBER) - 1;
    long[] in = of.piece(entry);
    int from = of.offset(entry);
    return of == segment.first ? in[from + KEY] : contents.key(content(in[from + WORD]));
  }

  /** The first slot from there on that has the tag, or is empty. */
  private static int probe(int[] slots, int tag, int from) {
    int slot = from;
    while (slots[slot] != 0 && slots[slot] >>> TAG_AT != tag) {
      slot = next(slot, slots.length);
    }
    return slot;
  }

  /** Goes to the entry of a hash; whether there is one. */
  boolean find(long hash) {
    if (isAt(hash)) {
      return true;
    }
    long mixed = mix(hash);
    Segment segment = segment(mixed);
    int[] slots = segment.slots;
    int tag = tag(mixed);
    int slot = probe(slots, tag, home(tag, slots.length));
    for (int taken = slots[slot]; taken != 0; taken = slots[slot]) {
      Entries of = segment.of(taken);
      int entry = (taken & NUMBER) - 1;
      if (of.hash(entry) == hash) {
        goTo(segment, of, entry);
        return true;
      }
      slot = probe(slots, tag, next(slot, slots.length));
    }
    return false;
  }

  /** Several things are asked of most names, one after the other. */
  private boolean isAt(long hash) {
    return number < entries.count && piece[at] == hash;
  }

  private static long content(long word) {
    return (word & SHARED) >>> SHARED_AT;
  }

  private boolean isFurther() {
    return entries.width == FURTHER_WIDTH;
  }

  /** A field of the entry it is at. */
  long get(int field) {
    return isFurther() && (field == WORD || field > PARENT) ? shared(field) : piece[at + field];
  }

  private long shared(int field) {
    long word = piece[at + WORD];
    long content = content(word);
    return switch (field) {
      case KEY -> contents.key(content);
      case LOCAL -> contents.local(content);
      default -> word & ~SHARED | contents.meaning(content) << SHARED_AT;
    };
  }

  /** Sets what its word says beside depth and context. */
  void setWord(long word) {
    long shared = piece[at + WORD] & SHARED;
    piece[at + WORD] = word & ~SHARED | shared;
  }

  /** Says what the name means; of the word, all counts. */
  void describe(long key, long word, long local, long parent) {
    piece[at + PARENT] = parent;
    if (isFurther()) {
      long before = content(piece[at + WORD]);
      long now = contents.retain(key, local, (word & SHARED) >>> SHARED_AT);
      contents.release(before);
      piece[at + WORD] = word & ~SHARED | now << SHARED_AT;
    } else {
      piece[at + WORD] = word;
      piece[at + KEY] = key;
      piece[at + LOCAL] = local;
    }
  }

  /**
   * Adds a hash that is not there and goes to it; {@link #describe} has to follow.
   *
   * @param further whether its block has another name, as a rule one of the same meaning
   * @return false, with nothing changed, if thousands of hashes begin alike when mixed, as none do
   *     by chance
   */
  boolean insert(long hash, boolean further) {
    long mixed = mix(hash);
    Segment segment = segment(mixed);
    while (segment.count() >= fullAt(mixed)) {
      if (segment.depth == MAX_DEPTH) {
        return false;
      }
      split(segment, mixed);
      segment = segment(mixed);
    }
    size++;
    Entries to = further ? segment.further : segment.first;
    goTo(segment, to, segment.append(to, mixed, hash));
    return true;
  }

  private static void put(int[] slots, int value) {
    int slot = home(value >>> TAG_AT, slots.length);
    while (slots[slot] != 0) {
      slot = next(slot, slots.length);
    }
    slots[slot] = value;
  }

  private static int slotOf(int[] slots, int wanted) {
    int slot = home(wanted >>> TAG_AT, slots.length);
    while (slots[slot] != wanted) {
      slot = next(slot, slots.length);
    }
    return slot;
  }

  /** Takes out the entry it is at. */
  void remove() {
    Segment segment = current;
    if (isFurther()) {
      contents.release(content(piece[at + WORD]));
    }
    free(segment.slots, slotOf(segment.slots, segment.slot(entries, tag(mix(piece[at])), number)));
    int last = --entries.count;
    if (last != number) {
      int tag = tag(mix(entries.hash(last)));
      int moved = slotOf(segment.slots, segment.slot(entries, tag, last));
      segment.slots[moved] = segment.slot(entries, tag, number);
      entries.copy(last, entries, number);
    }
    size--;
    entries.shrink();
    int room = room(segment.slots.length);
    if (room > 2 * SMALLEST && segment.count() < room >>> 1) {
      segment.resize(segment.count() + (segment.count() >>> 3) + 8);
    }
  }

  /** Moves what was pushed aside by the one that is gone back towards its home: no tombstones. */
  private static void free(int[] slots, int freed) {
    int length = slots.length;
    int hole = freed;
    for (int slot = next(hole, length); slots[slot] != 0; slot = next(slot, length)) {
      int home = home(slots[slot] >>> TAG_AT, length);
      if (distance(home, slot, length) >= distance(hole, slot, length)) {
        slots[hole] = slots[slot];
        hole = slot;
      }
    }
    slots[hole] = 0;
  }

  private static int next(int slot, int length) {
    return slot + 1 == length ? 0 : slot + 1;
  }

  private static int distance(int from, int to, int length) {
    return to < from ? to - from + length : to - from;
  }

  private static int fullAt(long mixed) {
    return UNIT / 8 * (8 + (int) (mixed >>> 64 - CLASS_BITS));
  }

  private void split(Segment segment, long mixed) {
    int depth = segment.depth + 1;
    long bit = 1L << 64 - depth;
    Segment zero = new Segment(segment.count() / 2 + SMALLEST, depth);
    Segment one = new Segment(segment.count() / 2 + SMALLEST, depth);
    for (Entries from : List.of(segment.first, segment.further)) {
      for (int i = 0; i < from.count; i++) {
        long own = mix(from.hash(i));
        Segment side = (own & bit) != 0 ? one : zero;
        Entries to = from == segment.first ? side.first : side.further;
        from.copy(i, to, side.append(to, own, from.hash(i)));
      }
    }
    if (depth > 64 - shift) {
      doubleDirectory();
    }
    replace(mixed & ~bit, depth, zero);
    replace(mixed | bit, depth, one);
    nowhere(); // what it was at may have moved
  }

  private void doubleDirectory() {
    Segment[] twice = new Segment[directory.length * 2];
    for (int i = 0; i < twice.length; i++) {
      twice[i] = directory[i >>> 1];
    }
    directory = twice;
    shift--;
  }

  private void replace(long mixed, int depth, Segment segment) {
    int spread = 64 - shift - depth;
    int first = (int) (mixed >>> 64 - depth) << spread;
    Arrays.fill(directory, first, first + (1 << spread), segment);
  }

  /**
   * Hashes whose {@link #mix} begins with given bits, in the order of it as a signed number,
   * whatever the order they were inserted in.
   *
   * @param prefix those bits
   * @param bits how many, 0 to 31
   * @param wanted asked at each entry, which nothing may change
   */
  long[] range(int prefix, int bits, BooleanSupplier wanted) {
    long first = (long) prefix << 64 - bits;
    long last = first | -1L >>> bits;
    long[] found = NOTHING;
    int count = 0;
    Segment before = null;
    for (int i = (int) (first >>> shift); i <= (int) (last >>> shift); i++) {
      Segment segment = directory[i];
      for (int n = 0; segment != before && n < segment.count(); n++) {
        boolean isFirst = n < segment.first.count;
        Entries of = isFirst ? segment.first : segment.further;
        goTo(segment, of, isFirst ? n : n - segment.first.count);
        long mixed = mix(piece[at]);
        if ((bits == 0 || mixed >>> 64 - bits == prefix) && wanted.getAsBoolean()) {
          found = count == found.length ? Arrays.copyOf(found, Math.max(16, 2 * count)) : found;
          found[count++] = mixed;
        }
      }
      before = segment;
    }
    Arrays.sort(found, 0, count);
    long[] hashes = new long[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = unmix(found[i]);
    }
    return hashes;
  }

  /** Takes {@link #mix} back. */
  static long unmix(long mixed) {
    long hash = mixed ^ mixed >>> 29 ^ mixed >>> 58;
    hash *= 0xCFEE444D8B59A89BL; // inverse of the second factor
    hash ^= hash >>> 32;
    return hash * 0xF1DE83E19937733DL; // inverse of the first
  }

  /** Heap it takes, in bytes. */
  long bytes() {
    long sum = 16 + 4L * directory.length;
    Segment before = null;
    for (Segment segment : directory) {
      if (segment != before) {
        sum += 32 + 16 + 4L * segment.slots.length;
        sum += segment.first.bytes() + segment.further.bytes();
      }
      before = segment;
    }
    return sum;
  }
}
