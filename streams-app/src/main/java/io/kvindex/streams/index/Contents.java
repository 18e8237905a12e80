// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * What several names of a block share, once: its lookup key, the hash of its own tokens, its depth
 * and context. Numbers stay as long as a name has them. Kept in {@value #PARTS} parts, each a hash
 * table of its own, so that none is large enough for its growth to be felt. For one thread.
 */
final class Contents {

  /** Largest number there is room for; a number takes as many bits as what it stands for. */
  static final long MOST = (1L << 36) - 1;

  private static final int PART_BITS = 8;
  private static final int PARTS = 1 << PART_BITS;

  /** Fields: key, local hash, and meaning with the names that have it in the bits above. */
  private static final int KEY = 0;

  private static final int LOCAL = 1;
  private static final int MEANING = 2;
  private static final int WIDTH = 3;
  private static final long NAME = MOST + 1;

  private static final int PIECE_BITS = 7;
  private static final int PIECE = 1 << PIECE_BITS;

  private static final long[][] NO_PIECES = {};

  private static final class Part {
    long[][] pieces = NO_PIECES;

    /** Numbers in a part, + 1; 0 = free. */
    int[] slots = new int[8];

    int count;

    /** Numbers given so far. */
    int given;

    /**
     * First of those that were given back, + 1, each of which has the next in its key; 0 = none.
     */
    int vacant;

    long get(int number, int field) {
      return pieces[number >>> PIECE_BITS][(number & PIECE - 1) * WIDTH + field];
    }

    void set(int number, int field, long value) {
      pieces[number >>> PIECE_BITS][(number & PIECE - 1) * WIDTH + field] = value;
    }

    int home(long mixed) {
      return (int) ((mixed << PART_BITS >>> 32) * slots.length >>> 32);
    }

    int next(int slot) {
      return slot + 1 == slots.length ? 0 : slot + 1;
    }

    /** The slot of a content, or the free one where it would be. */
    int slotOf(long mixed, long key, long local, long meaning) {
      int slot = home(mixed);
      for (; slots[slot] != 0; slot = next(slot)) {
        int number = slots[slot] - 1;
        if (get(number, KEY) == key
            && get(number, LOCAL) == local
            && (get(number, MEANING) & MOST) == meaning) {
          break;
        }
      }
      return slot;
    }

    int give() {
      if (vacant != 0) {
        int number = vacant - 1;
        vacant = (int) get(number, KEY);
        return number;
      }
      if (given >>> PIECE_BITS == pieces.length) {
        pieces = Arrays.copyOf(pieces, pieces.length + 1);
        pieces[pieces.length - 1] = new long[WIDTH * PIECE];
      }
      return given++;
    }

    /** Nothing is in it: its memory, which is kept while numbers are in use, is given back. */
    void clear() {
      pieces = NO_PIECES;
      given = 0;
      vacant = 0;
    }

    void resize(int length) {
      int[] old = slots;
      slots = new int[length];
      for (int taken : old) {
        if (taken != 0) {
          int slot = home(NameTable.mix(get(taken - 1, KEY)));
          while (slots[slot] != 0) {
            slot = next(slot);
          }
          slots[slot] = taken;
        }
      }
    }

    /** Frees a slot, and moves what was pushed aside back towards its home. */
    void free(int freed) {
      int hole = freed;
      for (int slot = next(hole); slots[slot] != 0; slot = next(slot)) {
        int home = home(NameTable.mix(get(slots[slot] - 1, KEY)));
        if (distance(home, slot) >= distance(hole, slot)) {
          slots[hole] = slots[slot];
          hole = slot;
        }
      }
      slots[hole] = 0;
    }

    private int distance(int from, int to) {
      return to < from ? to - from + slots.length : to - from;
    }
  }

  private final Part[] parts = new Part[PARTS];

  Contents() {
    Arrays.setAll(parts, i -> new Part());
  }

  private Part part(long number) {
    return parts[(int) number & PARTS - 1];
  }

  private static int within(long number) {
    return (int) (number >>> PART_BITS) - 1;
  }

  /** Where queries find the block. */
  long key(long number) {
    return part(number).get(within(number), KEY);
  }

  /** Hash of the block's own tokens. */
  long local(long number) {
    return part(number).get(within(number), LOCAL);
  }

  /** What was said beside it. */
  long meaning(long number) {
    return part(number).get(within(number), MEANING) & MOST;
  }

  /**
   * One more name has that content.
   *
   * @param meaning {@link #MOST} at most
   * @return its number, above 0
   */
  long retain(long key, long local, long meaning) {
    long mixed = NameTable.mix(key);
    int which = (int) (mixed >>> Long.SIZE - PART_BITS);
    Part part = parts[which];
    int slot = part.slotOf(mixed, key, local, meaning);
    if (part.slots[slot] == 0) {
      if (part.count >= part.slots.length - part.slots.length / 4) {
        part.resize(part.slots.length + part.slots.length / 4 + 2);
        slot = part.slotOf(mixed, key, local, meaning);
      }
      int number = part.give();
      part.set(number, KEY, key);
      part.set(number, LOCAL, local);
      part.set(number, MEANING, meaning);
      part.slots[slot] = number + 1;
      part.count++;
    }
    int number = part.slots[slot] - 1;
    part.set(number, MEANING, part.get(number, MEANING) + NAME);
    return number + 1L << PART_BITS | which;
  }

  /** One name less has that content; 0 = none was meant. */
  void release(long number) {
    if (number == 0) {
      return;
    }
    Part part = part(number);
    int within = within(number);
    long left = part.get(within, MEANING) - NAME;
    part.set(within, MEANING, left);
    if (left >>> 36 > 0) {
      return;
    }
    long key = part.get(within, KEY);
    part.free(part.slotOf(NameTable.mix(key), key, part.get(within, LOCAL), left & MOST));
    part.count--;
    part.set(within, KEY, part.vacant);
    part.vacant = within + 1;
    if (part.count == 0) {
      part.clear();
    }
    if (part.slots.length > 16 && part.count < part.slots.length / 4) {
      part.resize(part.slots.length / 2);
    }
  }

  /** Contents there are. */
  long size() {
    long sum = 0;
    for (Part part : parts) {
      sum += part.count;
    }
    return sum;
  }

  /** Heap it takes, in bytes. */
  long bytes() {
    long sum = 16 + 4L * PARTS;
    for (Part part : parts) {
      sum += 32 + 16 + 4L * part.slots.length + part.pieces.length * (4 + 16 + 8L * WIDTH * PIECE);
    }
    return sum;
  }
}
