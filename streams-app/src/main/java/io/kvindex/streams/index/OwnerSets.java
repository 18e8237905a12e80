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
 * whose last block is gone waits in quarantine until no reader that could have read it is running.
 */
final class OwnerSets {

  /** Id of the empty set: no block has it. */
  static final int EMPTY = 0;

  private static final VarHandle SETS = MethodHandles.arrayElementVarHandle(OwnerSet[].class);
  private static final VarHandle CHUNKS = MethodHandles.arrayElementVarHandle(OwnerSet[][].class);
  private static final int CHUNK_BITS = 10;
  private static final int CHUNK = 1 << CHUNK_BITS;
  private static final int CHUNK_MASK = CHUNK - 1;
  private static final int CACHE = 2048;
  private static final int SET_OVERHEAD_BYTES = 16 + 48 + 4 + 4;

  private final OwnerSet empty = new OwnerSet(EMPTY, 0, new long[0]);
  private final InternTable interned = new InternTable();
  private final SetQuarantine quarantine;
  private volatile OwnerSet[][] chunks = {new OwnerSet[CHUNK]};
  private int nextId = EMPTY + 1;
  private int[] freeIds = new int[64];
  private int free;

  /** Direct-mapped memory of {@code flip}: runs of blocks repeat the same transition. */
  private final @Nullable OwnerSet[] cachedFrom = new OwnerSet[CACHE];

  private final int[] cachedSlot = new int[CACHE];
  private final @Nullable OwnerSet[] cachedTo = new OwnerSet[CACHE];

  private final Gauge sets = new Gauge();
  private final Gauge bytes = new Gauge();

  OwnerSets(Epochs epochs) {
    SETS.setRelease(chunks[0], EMPTY, empty);
    quarantine = new SetQuarantine(epochs, this::reclaim);
    bytes.add(interned.bytes());
  }

  /** Any thread: the bits of a set whose id was read inside the current epoch. */
  long[] words(int id) {
    return get(id).words;
  }

  /** Any thread, inside an epoch; or the writer for an id that is in use. */
  OwnerSet get(int id) {
    OwnerSet[] chunk = (OwnerSet[]) CHUNKS.getAcquire(chunks, id >>> CHUNK_BITS);
    return (OwnerSet) SETS.getAcquire(chunk, id & CHUNK_MASK);
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
    to = from.isEmptyWithout(slot) ? empty : intern(from, slot);
    cachedFrom[at] = from;
    cachedSlot[at] = slot;
    cachedTo[at] = to;
    return to;
  }

  /** One more block names the set. */
  void retain(OwnerSet set) {
    if (set.references++ == 0 && set != empty) {
      sets.add(1);
      set.revived = set.queued;
    }
  }

  /** One block less names the set; the last one sends it to quarantine. */
  void release(OwnerSet set) {
    if (--set.references == 0 && set != empty) {
      sets.add(-1);
      quarantine.add(set);
    }
  }

  /** Sets that some block names. Any thread. */
  long count() {
    return sets.get();
  }

  /** Sets that wait for their readers, included those that came back to life. Any thread. */
  long waiting() {
    return quarantine.size();
  }

  /** Estimate of the heap all sets take, in bytes. Any thread. */
  long bytes() {
    return bytes.get() + (long) chunks.length * CHUNK * 4;
  }

  private OwnerSet intern(OwnerSet from, int slot) {
    long hash = from.hash ^ zobrist(slot);
    OwnerSet found = interned.find(hash, from, slot);
    return found != null ? found : create(hash, from.flipped(slot));
  }

  /**
   * The set that has exactly these bits, one at least; retain it before the next.
   *
   * @param words the last one is not 0; kept, where there is no such set yet
   */
  OwnerSet of(long[] words) {
    long hash = 0;
    for (int i = 0; i < words.length; i++) {
      for (long left = words[i]; left != 0; left &= left - 1) {
        hash ^= zobrist(i * Long.SIZE + Long.numberOfTrailingZeros(left));
      }
    }
    OwnerSet found = interned.find(hash, words);
    return found != null ? found : create(hash, words);
  }

  private OwnerSet create(long hash, long[] words) {
    OwnerSet created = new OwnerSet(takeId(), hash, words);
    bytes.add(SET_OVERHEAD_BYTES + 8L * created.words.length);
    put(created);
    long before = interned.bytes();
    interned.add(created);
    bytes.add(interned.bytes() - before);
    return created;
  }

  private void reclaim(OwnerSet set) {
    set.dead = true;
    interned.remove(set);
    bytes.add(-(SET_OVERHEAD_BYTES + 8L * set.words.length));
    if (free == freeIds.length) {
      freeIds = Arrays.copyOf(freeIds, free * 2);
    }
    freeIds[free++] = set.id;
  }

  private int takeId() {
    return free > 0 ? freeIds[--free] : nextId++;
  }

  private void put(OwnerSet set) {
    int chunk = set.id >>> CHUNK_BITS;
    OwnerSet[][] all = chunks;
    if (chunk == all.length) {
      all = Arrays.copyOf(all, chunk + 1);
      all[chunk] = new OwnerSet[CHUNK];
      chunks = all;
    }
    SETS.setRelease(all[chunk], set.id & CHUNK_MASK, set);
  }

  /** A fixed random number per slot, so that a set's hash is the xor of its members'. */
  private static long zobrist(int slot) {
    long z = (slot + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
