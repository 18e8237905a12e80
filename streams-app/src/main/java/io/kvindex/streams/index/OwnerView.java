// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Immutable picture of all live owners by slot. A walk takes one at its start and reports only
 * owners that are live in it; a slot is not given to another owner while a walk that saw the former
 * one is still running, so a bit always means the owner this view names.
 */
public final class OwnerView {

  static final OwnerView EMPTY = new OwnerView(0, new @Nullable Owner[0], new long[0]);

  private final long version;
  private final @Nullable Owner[] bySlot;
  private final long[] live;

  private OwnerView(long version, @Nullable Owner[] bySlot, long[] live) {
    this.version = version;
    this.bySlot = bySlot;
    this.live = live;
  }

  /** Grows by one with each owner added or retired; equal versions of one index are equal views. */
  public long version() {
    return version;
  }

  /** One more than the highest slot in use. */
  public int slots() {
    return bySlot.length;
  }

  /** Number of longs in an owner bitset of this view. */
  public int words() {
    return live.length;
  }

  /** The live owner in a slot, null when there is none. */
  public @Nullable Owner owner(int slot) {
    return slot < bySlot.length && isLive(slot) ? bySlot[slot] : null;
  }

  /** Number of live owners. */
  public int count() {
    int count = 0;
    for (long word : live) {
      count += Long.bitCount(word);
    }
    return count;
  }

  boolean isLive(int slot) {
    return slot >>> 6 < live.length && (live[slot >>> 6] & 1L << slot) != 0;
  }

  /** Not a copy: for the walk only, which never writes to it. */
  long[] liveBits() {
    return live;
  }

  OwnerView with(int slot, Owner owner) {
    int slots = Math.max(bySlot.length, slot + 1);
    @Nullable Owner[] owners = Arrays.copyOf(bySlot, slots);
    owners[slot] = owner;
    long[] bits = Arrays.copyOf(live, (slots + 63) >>> 6);
    bits[slot >>> 6] |= 1L << slot;
    return new OwnerView(version + 1, owners, bits);
  }

  OwnerView without(int slot) {
    long[] bits = live.clone();
    bits[slot >>> 6] &= ~(1L << slot);
    return new OwnerView(version + 1, bySlot, bits);
  }
}
