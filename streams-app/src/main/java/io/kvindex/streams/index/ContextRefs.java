// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * Small numbers for the context hashes that entries of name tables have, counted, so that a number
 * is given again once no entry has it. Number 0 is context 0, that of a prompt without adapter,
 * namespace, salt or images. For the writer alone.
 */
final class ContextRefs {

  /** What {@link #retain} says when all numbers are in use. */
  static final int FULL = -1;

  private final int most;
  private long[] hashes = new long[16];
  private int[] references = new int[16];

  /** Open addressing, number + 1 of a context, 0 = free; at most half full. */
  private int[] slots = new int[32];

  private int[] free = new int[16];
  private int freed;
  private int next = 1;

  /**
   * @param most how many numbers there are, a power of two
   */
  ContextRefs(int most) {
    this.most = most;
  }

  /** The context of a number in use. */
  long hash(int ref) {
    return hashes[ref];
  }

  /** Contexts in use beside 0. */
  int count() {
    return next - 1 - freed;
  }

  /** The number of a context for one more entry, {@link #FULL} = there are none left. */
  int retain(long hash) {
    if (hash == 0) {
      return 0;
    }
    int slot = slotOf(hash);
    if (slots[slot] != 0) {
      int ref = slots[slot] - 1;
      references[ref]++;
      return ref;
    }
    if (freed == 0 && next == most) {
      return FULL;
    }
    int ref = freed > 0 ? free[--freed] : takeNext();
    hashes[ref] = hash;
    references[ref] = 1;
    slots[slot] = ref + 1;
    if (2 * count() > slots.length) {
      rehash(2 * slots.length);
    }
    return ref;
  }

  /** One entry less has the number. */
  void release(int ref) {
    if (ref == 0 || --references[ref] > 0) {
      return;
    }
    int slot = slotOf(hashes[ref]);
    if (freed == free.length) {
      free = Arrays.copyOf(free, 2 * freed);
    }
    free[freed++] = ref;
    remove(slot);
  }

  private int takeNext() {
    if (next == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * next);
      references = Arrays.copyOf(references, 2 * next);
    }
    return next++;
  }

  /** Where a context's number is, or would be. */
  private int slotOf(long hash) {
    int slot = home(hash);
    while (slots[slot] != 0 && hashes[slots[slot] - 1] != hash) {
      slot = slot + 1 & slots.length - 1;
    }
    return slot;
  }

  private int home(long hash) {
    return (int) (NameTable.mix(hash) >>> 32) & slots.length - 1;
  }

  private void remove(int freedSlot) {
    int hole = freedSlot;
    for (int slot = hole + 1 & slots.length - 1;
        slots[slot] != 0;
        slot = slot + 1 & slots.length - 1) {
      int home = home(hashes[slots[slot] - 1]);
      if ((slot - home & slots.length - 1) >= (slot - hole & slots.length - 1)) {
        slots[hole] = slots[slot];
        hole = slot;
      }
    }
    slots[hole] = 0;
  }

  private void rehash(int length) {
    int[] old = slots;
    slots = new int[length];
    for (int taken : old) {
      if (taken != 0) {
        slots[slotOf(hashes[taken - 1])] = taken;
      }
    }
  }
}
