// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.index.Holder;

/** An owner with what the blocks know of it. Belongs to the writer. */
public final class OwnerState {

  private final Holder holder;
  private OwnerRow row;

  OwnerState(Holder holder, OwnerRow row) {
    this.holder = holder;
    this.row = row;
  }

  /** Its number in rows. */
  public int id() {
    return holder.id();
  }

  /** Who it is. */
  public OwnerRow row() {
    return row;
  }

  /** What the blocks know of it. */
  public Holder holder() {
    return holder;
  }

  /** How many of its blocks may be gone. */
  public int undecided() {
    return holder.undecided();
  }

  void setRow(OwnerRow newRow) {
    row = newRow;
  }
}
