// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * Dense numbers for owners. A slot goes live, retired (hidden at once), freed (its rows are swept)
 * and is used again only after its last block is gone and no walk that knew the old owner runs.
 * Used by the writer; {@link #view} and the figures by any thread.
 */
final class OwnerSlots {

  private enum State {
    UNUSED,
    LIVE,
    RETIRED,
    FREED
  }

  private record Vacant(int slot, long stamp) {}

  private final Epochs epochs;
  private final Queue<Vacant> vacant = new ArrayDeque<>();
  private State[] states = new State[0];
  private volatile Gauge[] members = new Gauge[0];
  private volatile OwnerView view = OwnerView.EMPTY;

  OwnerSlots(Epochs epochs) {
    this.epochs = epochs;
  }

  /** Any thread. A walk takes it after it announced itself, see {@link Epochs}. */
  OwnerView view() {
    return view;
  }

  int add(Owner owner) {
    int slot = takeSlot();
    states[slot] = State.LIVE;
    view = view.with(slot, owner);
    return slot;
  }

  void retire(int slot) {
    expect(slot, State.LIVE);
    states[slot] = State.RETIRED;
    view = view.without(slot);
  }

  void free(int slot) {
    expect(slot, State.RETIRED);
    states[slot] = State.FREED;
    if (members[slot].get() == 0) {
      vacate(slot);
    }
  }

  /** Whether blocks may be filed under the slot: live, or retired and not swept yet. */
  void checkWritable(int slot) {
    if (slot < 0 || slot >= states.length || states[slot] == State.UNUSED) {
      throw new IllegalArgumentException("no owner in slot " + slot);
    }
  }

  void joined(int slot) {
    members[slot].add(1);
  }

  void left(int slot) {
    Gauge blocks = members[slot];
    blocks.add(-1);
    if (states[slot] == State.FREED && blocks.get() == 0) {
      vacate(slot);
    }
  }

  /** Any thread: blocks that name the owner in a slot. */
  long members(int slot) {
    Gauge[] all = members;
    return slot < all.length ? all[slot].get() : 0;
  }

  private int takeSlot() {
    Vacant oldest = vacant.peek();
    if (oldest != null && oldest.stamp < epochs.oldestReader()) {
      vacant.remove();
      return oldest.slot;
    }
    int slot = states.length;
    states = Arrays.copyOf(states, slot + 1);
    Gauge[] more = Arrays.copyOf(members, slot + 1);
    more[slot] = new Gauge();
    members = more;
    return slot;
  }

  private void vacate(int slot) {
    states[slot] = State.UNUSED;
    vacant.add(new Vacant(slot, epochs.stamp()));
  }

  private void expect(int slot, State expected) {
    checkWritable(slot);
    if (states[slot] != expected) {
      throw new IllegalStateException(
          "slot " + slot + " is " + states[slot] + ", expected " + expected);
    }
  }
}
