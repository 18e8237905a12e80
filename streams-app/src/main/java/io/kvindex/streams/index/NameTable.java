// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the engine hashes of one space mean, five longs each: hash, lookup key, word, local hash,
 * parent. Found entries are worked on in place: {@link #find} and {@link #insert} leave the table
 * at an entry, which {@link #get} and {@link #set} read and write until the next insertion or
 * removal.
 *
 * <p>Extendible hashing: a directory of segments, each a dense array of entries and a sparse one of
 * 4-byte slots that name them. Both grow by a tenth, so that little is allocated that holds
 * nothing: 46 to 50 bytes an entry. For the table's writer alone.
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

  private static final int SMALLEST = 24;

  /** Of a slot: the entry's number + 1; what is left is part of its hash. */
  private static final int NUMBER_BITS = 13;

  private static final int NUMBER = (1 << NUMBER_BITS) - 1;
  private static final int TAG_BITS = 32 - NUMBER_BITS;

  private static final class Segment {
    long[] entries;
    int[] slots;
    int count;
    final int depth;

    Segment(int capacity, int depth) {
      entries = new long[WIDTH * capacity];
      slots = new int[slotsFor(capacity)];
      this.depth = depth;
    }
  }

  private Segment[] directory;
  private int shift;
  private Segment current;
  private int at;
  private long size;

  NameTable() {
    expect(0);
  }

  private static int slotsFor(int capacity) {
    return capacity + (capacity >>> 2) + 1;
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
      int capacity = (int) Math.min(full, Math.max(SMALLEST, withMargin(names >>> own)));
      int end = i + (1 << depth - own);
      Arrays.fill(directory, i, end, new Segment(capacity, own));
      i = end;
    }
    current = directory[0];
    at = 0;
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
    return slot == 0 ? 0 : segment.entries[((slot & NUMBER) - 1) * WIDTH + KEY];
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
        int entry = ((taken & NUMBER) - 1) * WIDTH;
        if (segment.entries[entry] == hash) {
          current = segment;
          at = entry;
          return true;
        }
      }
      slot = slot + 1 == slots.length ? 0 : slot + 1;
    }
    return false;
  }

  /** Several things are asked of most names, one after the other. */
  private boolean isAt(long hash) {
    return at < current.count * WIDTH && current.entries[at] == hash;
  }

  /** A field of the entry it is at. */
  long get(int field) {
    return current.entries[at + field];
  }

  /** Sets a field of the entry it is at. */
  void set(int field, long value) {
    current.entries[at + field] = value;
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
    while (segment.count * WIDTH == segment.entries.length) {
      boolean grew = grow(segment, mixed);
      segment = segment(mixed);
      if (!grew) {
        current = segment; // the one it was at may have been split
        at = 0;
        return false;
      }
    }
    size++;
    current = segment;
    at = append(segment, mixed, hash);
    return true;
  }

  private static int append(Segment segment, long mixed, long hash) {
    int number = segment.count++;
    put(segment.slots, tag(mixed), number);
    int entry = number * WIDTH;
    Arrays.fill(segment.entries, entry, entry + WIDTH, 0);
    segment.entries[entry] = hash;
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
    free(segment.slots, slotOf(segment.slots, tag(mix(segment.entries[at])), at / WIDTH));
    int last = --segment.count;
    if (last * WIDTH != at) {
      int tag = tag(mix(segment.entries[last * WIDTH]));
      segment.slots[slotOf(segment.slots, tag, last)] = tag << NUMBER_BITS | at / WIDTH + 1;
      System.arraycopy(segment.entries, last * WIDTH, segment.entries, at, WIDTH);
    }
    size--;
    int capacity = segment.entries.length / WIDTH;
    if (capacity > 2 * SMALLEST && segment.count < capacity >>> 1) {
      resize(segment, roomFor(segment.count, capacity));
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

  private boolean grow(Segment segment, long mixed) {
    int capacity = segment.entries.length / WIDTH;
    int full = fullAt(mixed);
    if (capacity < full) {
      resize(segment, roomFor(capacity, full));
    } else if (segment.depth < MAX_DEPTH) {
      split(segment, mixed, full);
    } else {
      return false;
    }
    return true;
  }

  private static int fullAt(long mixed) {
    return UNIT / 8 * (8 + (int) (mixed >>> 64 - CLASS_BITS));
  }

  private static int roomFor(int count, int full) {
    return Math.min(full, count + Math.max(8, count / 10));
  }

  private static void resize(Segment segment, int capacity) {
    segment.entries = Arrays.copyOf(segment.entries, capacity * WIDTH);
    int[] old = segment.slots;
    segment.slots = new int[slotsFor(capacity)];
    for (int slot : old) {
      if (slot != 0) {
        put(segment.slots, slot >>> NUMBER_BITS, (slot & NUMBER) - 1);
      }
    }
  }

  private void split(Segment segment, long mixed, int full) {
    int depth = segment.depth + 1;
    long bit = 1L << 64 - depth;
    int ones = 0;
    for (int i = 0; i < segment.count; i++) {
      ones += (mix(segment.entries[i * WIDTH]) & bit) != 0 ? 1 : 0;
    }
    Segment zero = new Segment(roomFor(segment.count - ones, full), depth);
    Segment one = new Segment(roomFor(ones, full), depth);
    for (int i = 0; i < segment.count; i++) {
      long hash = segment.entries[i * WIDTH];
      long own = mix(hash);
      Segment to = (own & bit) != 0 ? one : zero;
      int entry = append(to, own, hash);
      System.arraycopy(segment.entries, i * WIDTH, to.entries, entry, WIDTH);
    }
    if (depth > 64 - shift) {
      doubleDirectory();
    }
    replace(mixed & ~bit, depth, zero);
    replace(mixed | bit, depth, one);
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
   * Hashes whose {@link #mix} begins with given bits, in the order of it, whatever the order they
   * were inserted in.
   *
   * @param bits how many, 1 to 31
   * @return null = none
   */
  long @Nullable [] range(int prefix, int bits) {
    long first = (long) prefix << 64 - bits;
    long last = first | -1L >>> bits;
    long[] found = new long[16];
    int count = 0;
    Segment before = null;
    for (int i = (int) (first >>> shift); i <= (int) (last >>> shift); i++) {
      Segment segment = directory[i];
      for (int n = 0; segment != before && n < segment.count; n++) {
        long mixed = mix(segment.entries[n * WIDTH]);
        if (mixed >>> 64 - bits == prefix) {
          found = count == found.length ? Arrays.copyOf(found, 2 * count) : found;
          found[count++] = mixed;
        }
      }
      before = segment;
    }
    if (count == 0) {
      return null;
    }
    return inOrder(Arrays.copyOf(found, count));
  }

  /** From mixed hashes to hashes, smallest mix first. */
  private static long[] inOrder(long[] mixed) {
    // All begin alike, so that signed order is unsigned order.
    Arrays.sort(mixed);
    for (int i = 0; i < mixed.length; i++) {
      mixed[i] = unmix(mixed[i]);
    }
    return mixed;
  }

  /** Takes {@link #mix} back. */
  static long unmix(long mixed) {
    long hash = mixed ^ mixed >>> 29 ^ mixed >>> 58;
    hash *= 0xCFEE444D8B59A89BL; // inverse of the second factor
    hash ^= hash >>> 32;
    return hash * 0xF1DE83E19937733DL; // inverse of the first
  }

  /** Goes to each entry in turn; nothing may be inserted or removed meanwhile. */
  void forEach(Runnable taker) {
    Segment before = null;
    for (Segment segment : directory) {
      for (int n = 0; segment != before && n < segment.count; n++) {
        current = segment;
        at = n * WIDTH;
        taker.run();
      }
      before = segment;
    }
  }

  /** Heap it takes, in bytes. */
  long bytes() {
    long sum = 16 + 4L * directory.length;
    Segment before = null;
    for (Segment segment : directory) {
      if (segment != before) {
        sum += 32 + 16 + 8L * segment.entries.length + 16 + 4L * segment.slots.length;
      }
      before = segment;
    }
    return sum;
  }
}
