// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/** Which slot has which number in rows, one table's: open addressing, at most half full. */
final class SlotNumbers {

  /** The slot of a number that no holder has any more. */
  static final int NONE = -1;

  private final long[] numbers;
  private final int[] slots;

  /**
   * @param bySlot the number of each slot, {@link Blocks#NOBODY} = it has none
   */
  SlotNumbers(long[] bySlot) {
    int length = Integer.highestOneBit(Math.max(4, bySlot.length)) << 2;
    numbers = new long[length];
    slots = new int[length];
    Arrays.fill(slots, NONE);
    for (int slot = 0; slot < bySlot.length; slot++) {
      if (bySlot[slot] != Blocks.NOBODY) {
        int at = find(bySlot[slot]);
        numbers[at] = bySlot[slot];
        slots[at] = slot;
      }
    }
  }

  int slotOf(long number) {
    return slots[find(number)];
  }

  private int find(long number) {
    int at = (int) (NameTable.mix(number) >>> 32) & slots.length - 1;
    while (slots[at] != NONE && numbers[at] != number) {
      at = at + 1 & slots.length - 1;
    }
    return at;
  }
}
