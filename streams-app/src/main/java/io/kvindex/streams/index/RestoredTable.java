// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Whose numbers in rows count while a table is loaded. Rows are not written again when a dead owner
 * is swept out of them and others are left: numbers of nobody, and those of the round of sweeping
 * under way where it has been, say nothing. Any thread, as nobody changes the table's holders
 * meanwhile.
 */
final class RestoredTable {

  /** The slot of a number that says nothing. */
  static final int NONE = -1;

  private final Blocks.Table table;

  /** Open addressing, at most half full. */
  private final long[] numbers;

  private final int[] slots;

  RestoredTable(Blocks.Table table) {
    this.table = table;
    int length = Integer.highestOneBit(Math.max(4, table.numbers.length)) << 2;
    numbers = new long[length];
    slots = new int[length];
    Arrays.fill(slots, NONE);
    for (int slot = 0; slot < table.numbers.length; slot++) {
      if (table.bySlot[slot] != null) {
        int at = find(table.numbers[slot]);
        numbers[at] = table.numbers[slot];
        slots[at] = slot;
      }
    }
  }

  private int find(long number) {
    int at = (int) (NameTable.mix(number) >>> 32) & slots.length - 1;
    while (slots[at] != NONE && numbers[at] != number) {
      at = at + 1 & slots.length - 1;
    }
    return at;
  }

  /** The slot of a number, {@link #NONE} = it does not hold the name. */
  int slotOf(long number, long hash) {
    int slot = slots[find(number)];
    return slot != NONE && isSwept(slot, hash) ? NONE : slot;
  }

  /** Whose a slot is, null = nobody's. */
  @Nullable Holder holderOf(int slot) {
    return slot == NONE ? null : table.bySlot[slot];
  }

  /** By its id, null = there is none any more. */
  @Nullable Holder holder(int id) {
    return holderOf(slots[find((long) id << Holder.PART_BITS)]);
  }

  /** Whether what is said of a holder's copies of a name counts. */
  boolean counts(int id, long hash) {
    Holder holder = holder(id);
    return holder != null && !(holder.isDead() && isSwept(holder.visible(), hash));
  }

  private boolean isSwept(int slot, long hash) {
    return !table.swept.isEmpty()
        && slot >>> 6 < table.sweptBits.length
        && (table.sweptBits[slot >>> 6] & 1L << slot) != 0
        && NameTable.mix(hash) >>> Long.SIZE - table.sweepBits < table.sweptTo;
  }
}
