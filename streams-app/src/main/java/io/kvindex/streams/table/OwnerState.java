// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.row.OwnerRow;

/** An owner with its place in the index. Belongs to the writer. */
public final class OwnerState {

  /** Slot of an owner that was dead already when its rows were loaded. */
  private static final int NO_SLOT = -1;

  private final int id;
  private final PrefixIndex index;
  private final int slot;
  private OwnerRow row;
  private int undecided;

  OwnerState(int id, OwnerRow row, PrefixIndex index, int slot) {
    this.id = id;
    this.row = row;
    this.index = index;
    this.slot = slot;
  }

  static OwnerState dead(int id, OwnerRow row, PrefixIndex index) {
    return new OwnerState(id, row, index, NO_SLOT);
  }

  /** Its number in residency rows. */
  public int id() {
    return id;
  }

  /** Who it is. */
  public OwnerRow row() {
    return row;
  }

  /** The index of its table. */
  public PrefixIndex index() {
    return index;
  }

  /** Whether the index shows the block as held by this owner, written records only. */
  public boolean holds(long lookupKey) {
    return index.contains(lookupKey, slot);
  }

  /** How many of its rows are of blocks that may be gone. */
  public int undecided() {
    return undecided;
  }

  void addUndecided(int change) {
    undecided += change;
  }

  int slot() {
    return slot;
  }

  boolean indexed() {
    return slot != NO_SLOT;
  }

  void setRow(OwnerRow newRow) {
    row = newRow;
  }
}
