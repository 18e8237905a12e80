// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * What the engine hashes of one space mean, five longs each: hash, lookup key, word, local hash,
 * parent. Found entries are worked on in place: {@link #find} and {@link #insert} leave the table
 * at an entry, which {@link #get} and {@link #set} read and write until the next insertion or
 * removal.
 *
 * <p>Extendible hashing: a directory of segments, each with its entries in pieces that are added
 * and dropped one by one, so that none is copied as it grows, and a sparse array of 4-byte slots
 * that name them: some 46 bytes an entry. For the table's writer alone.
 */
final class NameTable {

  /** Fields of an entry. */
  static final int HASH = 0;

  static final int KEY = 1;
  static final int WORD = 2;
  static final int LOCAL = 3;
  static final int PARENT = 4;
  private static final int WIDTH = 5;

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
  private static final int TAG_BITS = 32 - NUMBER_BITS;

  private static final long[] NOTHING = {};

  private static final class Segment {
    /** As many as there are entries for; one may be empty behind them. */
    long[][] pieces = {};

    int[] slots;
    int count;
    final int depth;

    /**
     * @param room entries there are slots for
     */
    Segment(int room, int depth) {
      slots = new int[slotsFor(room)];
      this.depth = depth;
    }

    long[] piece(int number) {
      return pieces[number >>> PIECE_BITS];
    }

    long hash(int number) {
      return piece(number)[offset(number)];
    }

    /** Makes place for one more entry behind the others. */
    void extend() {
      int piece = count >>> PIECE_BITS;
      if (piece == pieces.length) {
        pieces = Arrays.copyOf(pieces, piece + 1);
        pieces[piece] = new long[WIDTH * (piece == 0 ? SMALLEST : PIECE)];
      } else if (offset(count) == pieces[piece].length) {
        pieces[piece] = Arrays.copyOf(pieces[piece], 2 * pieces[piece].length);
      }
    }

    /** Drops a piece nobody needs but for one, as the next entry may come back to it. */
    void shrink() {
      int needed = (count + PIECE - 1 >>> PIECE_BITS) + 1;
      if (pieces.length > needed) {
        pieces = Arrays.copyOf(pieces, needed);
      }
    }
  }

  private Segment[] directory;
  private int shift;
  private Segment current;

  /** The piece its entry is in, and where there. */
  private long[] piece = NOTHING;

  private int at;
  private int number;
  private long size;

  NameTable() {
    expect(0);
  }

  private static int slotsFor(int room) {
    return room + (room >>> 2) + 1;
  }

  /** For how many entries there are slots. */
  private static int room(int slots) {
    return slots - slots / 5 - 1;
  }

  private static int offset(int number) {
    return (number & PIECE - 1) * WIDTH;
  }

  private void goTo(Segment segment, int entry) {
    current = segment;
    number = entry;
    piece = segment.piece(entry);
    at = offset(entry);
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
   * The same for the entry that slot names, which is mostly the one of the hash.
   *
   * @return its lookup key, 0 = there is none
   */
  long touchEntry(long hash) {
    long mixed = mix(hash);
    Segment segment = segment(mixed);
    int slot = segment.slots[home(tag(mixed), segment.slots.length)];
    int entry = (slot & NUMBER) - 1;
    return slot == 0 ? 0 : segment.piece(entry)[offset(entry) + KEY];
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
    int slot = home(tag, slots.length);
    for (int taken = slots[slot]; taken != 0; taken = slots[slot]) {
      if (taken >>> NUMBER_BITS == tag) {
        int entry = (taken & NUMBER) - 1;
        if (segment.hash(entry) == hash) {
          goTo(segment, entry);
          return true;
        }
      }
      slot = slot + 1 == slots.length ? 0 : slot + 1;
    }
    return false;
  }

  /** Several things are asked of most names, one after the other. */
  private boolean isAt(long hash) {
    return number < current.count && piece[at] == hash;
  }

  /** A field of the entry it is at. */
  long get(int field) {
    return piece[at + field];
  }

  /** Sets a field of the entry it is at. */
  void set(int field, long value) {
    piece[at + field] = value;
  }

  /**
   * Adds a hash that is not there, all other fields 0, and goes to it.
   *
   * @return false, with nothing changed, if thousands of hashes begin alike when mixed, as none do
   *     by chance
   */
  boolean insert(long hash) {
    long mixed = mix(hash);
    Segment segment = segment(mixed);
    while (segment.count >= fullAt(mixed)) {
      if (segment.depth == MAX_DEPTH) {
        return false;
      }
      split(segment, mixed);
      segment = segment(mixed);
    }
    size++;
    append(segment, mixed, hash);
    goTo(segment, segment.count - 1);
    return true;
  }

  /** Adds an entry, all fields but the hash 0; where its fields are in the last piece. */
  private static int append(Segment segment, long mixed, long hash) {
    if (segment.count == room(segment.slots.length)) {
      resize(segment, segment.count + Math.max(8, segment.count >>> 3));
    }
    segment.extend();
    int number = segment.count++;
    put(segment.slots, tag(mixed), number);
    long[] piece = segment.piece(number);
    int entry = offset(number);
    Arrays.fill(piece, entry, entry + WIDTH, 0);
    piece[entry] = hash;
    return entry;
  }

  private static void put(int[] slots, int tag, int number) {
    int slot = home(tag, slots.length);
    while (slots[slot] != 0) {
      slot = slot + 1 == slots.length ? 0 : slot + 1;
    }
    slots[slot] = tag << NUMBER_BITS | number + 1;
  }

  private static int slotOf(int[] slots, int tag, int number) {
    int wanted = tag << NUMBER_BITS | number + 1;
    int slot = home(tag, slots.length);
    while (slots[slot] != wanted) {
      slot = slot + 1 == slots.length ? 0 : slot + 1;
    }
    return slot;
  }

  /** Takes out the entry it is at. */
  void remove() {
    Segment segment = current;
    free(segment.slots, slotOf(segment.slots, tag(mix(piece[at])), number));
    int last = --segment.count;
    if (last != number) {
      int tag = tag(mix(segment.hash(last)));
      segment.slots[slotOf(segment.slots, tag, last)] = tag << NUMBER_BITS | number + 1;
      System.arraycopy(segment.piece(last), offset(last), piece, at, WIDTH);
    }
    size--;
    segment.shrink();
    int room = room(segment.slots.length);
    if (room > 2 * SMALLEST && segment.count < room >>> 1) {
      resize(segment, segment.count + (segment.count >>> 3) + 8);
    }
  }

  /** Moves what was pushed aside by the one that is gone back towards its home: no tombstones. */
  private static void free(int[] slots, int freed) {
    int length = slots.length;
    int hole = freed;
    for (int slot = next(hole, length); slots[slot] != 0; slot = next(slot, length)) {
      int home = home(slots[slot] >>> NUMBER_BITS, length);
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

  private static void resize(Segment segment, int room) {
    int[] old = segment.slots;
    segment.slots = new int[slotsFor(room)];
    for (int slot : old) {
      if (slot != 0) {
        put(segment.slots, slot >>> NUMBER_BITS, (slot & NUMBER) - 1);
      }
    }
  }

  private void split(Segment segment, long mixed) {
    int depth = segment.depth + 1;
    long bit = 1L << 64 - depth;
    Segment zero = new Segment(segment.count / 2 + SMALLEST, depth);
    Segment one = new Segment(segment.count / 2 + SMALLEST, depth);
    for (int i = 0; i < segment.count; i++) {
      long hash = segment.hash(i);
      long own = mix(hash);
      Segment to = (own & bit) != 0 ? one : zero;
      int entry = append(to, own, hash);
      System.arraycopy(segment.piece(i), offset(i), to.piece(to.count - 1), entry, WIDTH);
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
      for (int n = 0; segment != before && n < segment.count; n++) {
        long mixed = mix(segment.hash(n));
        goTo(segment, n);
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
        sum += 32 + 16 + 4L * segment.slots.length + 16;
        for (long[] piece : segment.pieces) {
          sum += 4 + 16 + 8L * piece.length;
        }
      }
      before = segment;
    }
    return sum;
  }
}
