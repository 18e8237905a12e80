// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One piece of the key table: open addressing with linear probing in a {@code long[]}.
 *
 * <pre>
 * 0       number of keys   (writer only)
 * 1       depth            (writer only)
 * 2i + 2  state of slot i:  version (24 bits) | overflow (8 bits) | owner set id (32 bits)
 * 2i + 3  key of slot i, any 64 bits; means something only while the id is not 0
 * </pre>
 *
 * <p>What the writer needs of each segment lies beside the array's length, which is read anyway.
 *
 * <p><em>overflow</em> counts the keys that probed past a slot: a search may stop where it is 0. So
 * a removal leaves no tombstone, and a key never moves. It sticks at 255; a search is bounded by
 * the slots anyway.
 *
 * <p><em>Why a reader never takes the id of another key.</em> The writer removes by storing id 0,
 * and installs key L by storing L (release), then (next version, id) (release). A reader loads
 * state s1, the key, state s2 in that order (acquire) and takes the id if it is not 0, the key
 * matches and s1 = s2. Say s1 was written in installation n, of key M. Loading it makes M visible,
 * so the key loaded is M or a later one. If later, then loading that makes the removal of M
 * visible, which came before it, so s2 has id 0 or a version above n and differs from s1. Hence the
 * key loaded is M. A version that would wrap makes the writer copy the segment instead, so versions
 * never repeat.
 *
 * <p><em>Why it never misses a key that is there all the time.</em> Keys do not move; overflow on
 * their path is raised before they are installed and lowered after they are removed; a copy is
 * complete before it is published and the original never changes afterwards.
 */
final class Segment {

  static final int SMALLEST = 32;

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int COUNT = 0;
  private static final int DEPTH = 1;
  private static final int FIRST = 2;
  private static final long ID = 0xFFFFFFFFL;
  private static final long OVERFLOW_ONE = 1L << 32;
  private static final long OVERFLOW = 0xFFL << 32;
  private static final long VERSION_ONE = 1L << 40;
  private static final long VERSION = 0xFFFFFFL << 40;

  private Segment() {}

  static long[] create(int slots, int depth) {
    long[] segment = new long[FIRST + 2 * slots];
    segment[DEPTH] = depth;
    return segment;
  }

  private static int at(int slot) {
    return FIRST + (slot << 1);
  }

  static int slots(long[] segment) {
    return segment.length - FIRST >>> 1;
  }

  static int count(long[] segment) {
    return (int) segment[COUNT];
  }

  static int depth(long[] segment) {
    return (int) segment[DEPTH];
  }

  /** Spreads keys over segments (upper bits) and slots (the bits below those). */
  static long mix(long key) {
    return key * 0x9E3779B97F4A7C15L;
  }

  /** Where the state of a key's first slot is, in a segment of {@code length} longs. */
  static int offset(long mixed, int length) {
    return at(home(mixed, length - FIRST >>> 1));
  }

  /**
   * Brings a cache line closer; the value only keeps the load alive. The segment may be another
   * than the one the offset was made for.
   */
  static long touch(long[] segment, int offset) {
    return segment[Math.min(offset, segment.length - 1)];
  }

  /**
   * Any reader: the id of a key if it is in the slot at an offset, else 0; without a branch. See
   * the class comment for why the id is the key's own.
   */
  static int idAt(long[] segment, int offset, long key) {
    long state = (long) LONGS.getAcquire(segment, offset);
    long found = (long) LONGS.getAcquire(segment, offset + 1);
    long again = (long) LONGS.getAcquire(segment, offset);
    long differs = found ^ key | state ^ again;
    return (int) state & (int) ~((differs | -differs) >> 63);
  }

  /** Any reader: the id stored for a key, 0 if it has none. */
  static int find(long[] segment, long mixed, long key) {
    int slots = slots(segment);
    int slot = home(mixed, slots);
    for (int left = slots; left > 0; left--) {
      int at = at(slot);
      long state = (long) LONGS.getAcquire(segment, at);
      while ((int) state != 0 && (long) LONGS.getAcquire(segment, at + 1) == key) {
        long again = (long) LONGS.getAcquire(segment, at);
        if (again == state) {
          return (int) state;
        }
        state = again;
      }
      if ((state & OVERFLOW) == 0) {
        return 0;
      }
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
    return 0;
  }

  /** Writer: the slot of a key, -1 if it has none. */
  static int slotOf(long[] segment, long mixed, long key) {
    int slots = slots(segment);
    int slot = home(mixed, slots);
    for (int left = slots; left > 0; left--) {
      long state = segment[at(slot)];
      if ((int) state != 0 && segment[at(slot) + 1] == key) {
        return slot;
      }
      if ((state & OVERFLOW) == 0) {
        return -1;
      }
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
    return -1;
  }

  static int idAt(long[] segment, int slot) {
    return (int) segment[at(slot)];
  }

  static long keyAt(long[] segment, int slot) {
    return segment[at(slot) + 1];
  }

  /** Writer: another id for a key that is there. */
  static void replaceId(long[] segment, int slot, int id) {
    int at = at(slot);
    LONGS.setRelease(segment, at, segment[at] & ~ID | id);
  }

  /**
   * Writer: adds a key that is not there; a slot must be free.
   *
   * @return false, with nothing changed, if the free slot's version would wrap
   */
  static boolean insert(long[] segment, long mixed, long key, int id) {
    int slots = slots(segment);
    int home = home(mixed, slots);
    int slot = home;
    while ((int) segment[at(slot)] != 0) {
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
    int at = at(slot);
    long state = segment[at];
    if ((state & VERSION) == VERSION) {
      return false;
    }
    for (int passed = home; passed != slot; passed = passed + 1 == slots ? 0 : passed + 1) {
      changeOverflow(segment, passed, OVERFLOW_ONE);
    }
    LONGS.setRelease(segment, at + 1, key);
    LONGS.setRelease(segment, at, (state & ~ID) + VERSION_ONE | id);
    segment[COUNT]++;
    return true;
  }

  /** Writer: takes the key out of its slot. */
  static void remove(long[] segment, long mixed, int slot) {
    int slots = slots(segment);
    replaceId(segment, slot, 0);
    for (int passed = home(mixed, slots);
        passed != slot;
        passed = passed + 1 == slots ? 0 : passed + 1) {
      changeOverflow(segment, passed, -OVERFLOW_ONE);
    }
    segment[COUNT]--;
  }

  private static void changeOverflow(long[] segment, int slot, long difference) {
    long state = segment[at(slot)];
    if ((state & OVERFLOW) != OVERFLOW) {
      LONGS.setRelease(segment, at(slot), state + difference);
    }
  }

  /**
   * Multiplication instead of remainder; the directory never uses more than 20 of the upper bits.
   */
  private static int home(long mixed, int slots) {
    return (int) ((mixed >>> 12 & 0xFFFFFFFFL) * slots >>> 32);
  }
}
