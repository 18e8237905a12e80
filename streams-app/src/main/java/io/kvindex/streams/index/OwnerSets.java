// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All owner sets of a table, each kept once. The writer reaches a set by flipping one owner in
 * another ({@link #flip}); readers map an id to bits ({@link #words}). Id 0 is the empty set: no
 * block has it.
 *
 * <p>Publication: a set is stored under its id with release before its id can be found in the key
 * table (stored with release too), so a reader that acquired the id sees the set. Reuse: an id
 * whose last block is gone waits until no reader that could have read it is running.
 */
final class OwnerSets {

  /** Id of the empty set: no block has it. */
  static final int EMPTY = 0;

  private static final VarHandle SETS = MethodHandles.arrayElementVarHandle(OwnerSet[].class);
  private static final int CACHE = 2048;
  private static final int SET_OVERHEAD_BYTES = 16 + 48 + 4 + 4;

  /** Ids that wait for their readers together. */
  private static final int BATCH = 64;

  private final OwnerSet empty = new OwnerSet(EMPTY, 0, new long[0]);
  private volatile OwnerSet[] byId = new OwnerSet[1024];
  private final Limbo unnamed;
  private int nextId = EMPTY + 1;
  private int[] freeIds = new int[BATCH];
  private int free;

  /** Sets by the lower bits of their hash, chained. */
  private @Nullable OwnerSet[] byHash = new OwnerSet[128];

  /** Bits of the set that is looked for. */
  private long[] bits = new long[4];

  /** Direct-mapped memory of {@code flip}: runs of blocks repeat the same transition. */
  private final @Nullable OwnerSet[] cachedFrom = new OwnerSet[CACHE];

  private final int[] cachedSlot = new int[CACHE];
  private final @Nullable OwnerSet[] cachedTo = new OwnerSet[CACHE];

  private final Gauge sets = new Gauge();
  private final Gauge bytes = new Gauge();

  OwnerSets(Epochs epochs) {
    put(empty);
    unnamed = new Limbo(epochs, BATCH);
  }

  /** Any thread: the bits of a set whose id was read inside the current epoch. */
  long[] words(int id) {
    return get(id).words;
  }

  /** Any thread, inside an epoch; or the writer for an id that is in use. */
  OwnerSet get(int id) {
    return (OwnerSet) SETS.getAcquire(byId, id);
  }

  OwnerSet empty() {
    return empty;
  }

  /**
   * The set that differs from {@code from} in exactly the given slot; retain it before the next.
   */
  OwnerSet flip(OwnerSet from, int slot) {
    int at = (from.id * 0x9E3779B1 ^ slot * 0x85EBCA6B) >>> 32 - 11;
    OwnerSet to = cachedTo[at];
    if (to != null && cachedFrom[at] == from && cachedSlot[at] == slot && !to.dead) {
      return to;
    }
    startBits(Math.max(from.words.length, (slot >>> 6) + 1));
    System.arraycopy(from.words, 0, bits, 0, from.words.length);
    bits[slot >>> 6] ^= 1L << slot;
    to = ofBits(from.hash ^ zobrist(slot));
    cachedFrom[at] = from;
    cachedSlot[at] = slot;
    cachedTo[at] = to;
    return to;
  }

  /**
   * The set of given slots; retain it before the next.
   *
   * @param slots the first {@code count} of them, in any order
   */
  OwnerSet of(long[] slots, int count) {
    long highest = 0;
    for (int i = 0; i < count; i++) {
      highest = Math.max(highest, slots[i]);
    }
    startBits((int) (highest >>> 6) + 1);
    long hash = 0;
    for (int i = 0; i < count; i++) {
      int slot = (int) slots[i];
      hash ^= (bits[slot >>> 6] & 1L << slot) == 0 ? zobrist(slot) : 0;
      bits[slot >>> 6] |= 1L << slot;
    }
    return ofBits(hash);
  }

  private void startBits(int length) {
    bits = length > bits.length ? new long[2 * length] : bits;
    Arrays.fill(bits, 0);
  }

  private OwnerSet ofBits(long hash) {
    int length = bits.length;
    while (length > 0 && bits[length - 1] == 0) {
      length--;
    }
    if (length == 0) {
      return empty;
    }
    OwnerSet set = byHash[(int) hash & byHash.length - 1];
    while (set != null
        && (set.hash != hash || !Arrays.equals(set.words, 0, set.words.length, bits, 0, length))) {
      set = set.next;
    }
    return set != null ? set : create(hash, Arrays.copyOf(bits, length));
  }

  private OwnerSet create(long hash, long[] words) {
    OwnerSet created = new OwnerSet(free > 0 ? freeIds[--free] : nextId++, hash, words);
    bytes.add(SET_OVERHEAD_BYTES + 8L * words.length);
    put(created);
    if (sets.get() >= byHash.length) {
      rehash();
    }
    chain(created);
    return created;
  }

  private void put(OwnerSet set) {
    if (set.id == byId.length) {
      byId = Arrays.copyOf(byId, 2 * set.id);
    }
    SETS.setRelease(byId, set.id, set);
  }

  private void chain(OwnerSet set) {
    int at = (int) set.hash & byHash.length - 1;
    set.next = byHash[at];
    byHash[at] = set;
  }

  private void unchain(OwnerSet set) {
    int at = (int) set.hash & byHash.length - 1;
    OwnerSet before = byHash[at];
    if (before == set) {
      byHash[at] = set.next;
    } else {
      while (before != null && before.next != set) {
        before = before.next;
      }
      if (before == null) {
        throw new IllegalStateException("BUG: set " + set.id + " is not interned");
      }
      before.next = set.next;
    }
    set.next = null;
  }

  private void rehash() {
    @Nullable OwnerSet[] before = byHash;
    byHash = new OwnerSet[2 * before.length];
    for (OwnerSet first : before) {
      for (OwnerSet set = first; set != null; ) {
        OwnerSet next = set.next;
        chain(set);
        set = next;
      }
    }
  }

  /** Estimate of the heap all sets take, in bytes. Any thread. */
  long bytes() {
    return bytes.get() + 4L * byId.length;
  }

  /** One more block names the set. */
  void retain(OwnerSet set) {
    if (set != empty && set.references++ == 0) {
      sets.add(1);
      set.revived = set.waiting;
    }
  }

  /** One block less names the set; after the last one it waits for those who read it. */
  void release(OwnerSet set) {
    if (set != empty && --set.references == 0) {
      sets.add(-1);
      if (!set.waiting) {
        set.waiting = true;
        if (unnamed.add(set.id)) {
          reclaim();
        }
      }
    }
  }

  /** Takes back the ids of sets that nobody can read and no block names. */
  private void reclaim() {
    for (int id = unnamed.take(); id >= 0; id = unnamed.take()) {
      OwnerSet set = get(id);
      if (set.references == 0 && !set.revived) {
        set.dead = true;
        unchain(set);
        bytes.add(-(SET_OVERHEAD_BYTES + 8L * set.words.length));
        freeIds = free == freeIds.length ? Arrays.copyOf(freeIds, 2 * free) : freeIds;
        freeIds[free++] = id;
      } else {
        set.waiting = set.references == 0;
        set.revived = false;
        if (set.waiting) {
          unnamed.add(id); // once more, from now on
        }
      }
    }
  }

  /** Sets that some block names. Any thread. */
  long count() {
    return sets.get();
  }

  /**
   * Ids that no set has, as readers may still have them, or until there is one more. Visible for
   * tests.
   */
  long unused() {
    return nextId - 1 - count();
  }

  /** A fixed random number per slot, so that a set's hash is the xor of its members'. */
  private static long zobrist(int slot) {
    long z = (slot + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
