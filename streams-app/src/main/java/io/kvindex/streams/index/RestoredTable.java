// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whose numbers in rows count while a table is loaded. Rows are not written again when a dead owner
 * is swept out of them and others are left: numbers of nobody, and those of the round of sweeping
 * under way where it has been, say nothing. Does not change: any thread.
 */
final class RestoredTable {

  private final SlotNumbers slots;
  private final Map<Integer, Holder> holders = new HashMap<>();
  private final long[] sweptBits;
  private final int sweptTo;
  private final int shift;
  private final boolean sweeping;

  RestoredTable(Blocks.Table table) {
    slots = new SlotNumbers(table.numbers);
    for (Holder holder : table.bySlot) {
      if (holder != null) {
        holders.put(holder.id(), holder);
      }
    }
    sweptBits = table.sweptBits.clone();
    sweptTo = table.sweptTo;
    shift = Long.SIZE - table.sweepBits;
    sweeping = !table.swept.isEmpty();
  }

  /** The slot of a number, negative = it does not hold the name. */
  int slotOf(long number, long mixed) {
    int slot = slots.slotOf(number);
    return slot >= 0 && isSwept(slot, mixed) ? SlotNumbers.NONE : slot;
  }

  @Nullable Holder holder(int id) {
    return holders.get(id);
  }

  /** Whether what is said of a holder's copies of a name counts. */
  boolean counts(int id, long mixed) {
    Holder holder = holders.get(id);
    return holder != null && !(holder.isDead() && isSwept(holder.visible(), mixed));
  }

  private boolean isSwept(int slot, long mixed) {
    return sweeping
        && slot >>> 6 < sweptBits.length
        && (sweptBits[slot >>> 6] & 1L << slot) != 0
        && mixed >>> shift < sweptTo;
  }
}
