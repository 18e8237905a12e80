// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Immutable picture of all live owners by slot. A walk takes one at its start and reports only
 * owners that are live in it; a slot is not given to another owner while a walk that saw the former
 * one is still running, so a bit always means the owner this view names.
 */
public final class OwnerView {

  /** Begins at random, so that no two processes give the same number to different views. */
  private static final AtomicLong IDS = new AtomicLong(new SecureRandom().nextLong());

  static final OwnerView EMPTY = of(IDS.getAndIncrement(), new @Nullable Owner[0]);

  private final long id;
  private final @Nullable Owner[] bySlot;
  private final long[] live;

  private OwnerView(long id, @Nullable Owner[] bySlot, long[] live) {
    this.id = id;
    this.bySlot = bySlot;
    this.live = live;
  }

  /**
   * A view made elsewhere.
   *
   * @param id its {@link #id} there
   * @param bySlot the live owner of each slot, null where there is none; not copied
   */
  public static OwnerView of(long id, @Nullable Owner[] bySlot) {
    long[] live = new long[(bySlot.length + 63) >>> 6];
    for (int slot = 0; slot < bySlot.length; slot++) {
      if (bySlot[slot] != null) {
        live[slot >>> 6] |= 1L << slot;
      }
    }
    return new OwnerView(id, bySlot, live);
  }

  /** Views of the same number are equal, whichever replica they are of. */
  public long id() {
    return id;
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
    return new OwnerView(IDS.getAndIncrement(), owners, bits);
  }

  OwnerView without(int slot) {
    long[] bits = live.clone();
    bits[slot >>> 6] &= ~(1L << slot);
    return new OwnerView(IDS.getAndIncrement(), bySlot, bits);
  }
}
