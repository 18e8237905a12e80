// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * The in-memory index of one table (tenant, model, block size, hash profile): which owners hold the
 * block with a given lookup key.
 *
 * <p>One writer at a time: all methods that are not marked "any thread" belong to the thread that
 * owns the table, and handing it over to another thread needs a happens-before edge. Readers use a
 * {@link PrefixReader} and never block the writer nor each other.
 *
 * <p>An update costs one key lookup and one owner-set transition; the worst one copies one segment
 * of the key table (a few thousand entries).
 */
public final class PrefixIndex {

  private final Epochs epochs;
  private final KeyTable table = new KeyTable();
  private final OwnerSets sets;

  /**
   * Of an owner's slot. It is used again only after its last block is gone and no walk that knew
   * the old owner runs.
   */
  private enum State {
    UNUSED,
    LIVE,
    RETIRED,
    FREED
  }

  private final Limbo vacant;
  private State[] states = new State[0];
  private volatile Gauge[] members = new Gauge[0];
  private volatile OwnerView view = OwnerView.EMPTY;

  /** An index with reader places of its own. */
  public PrefixIndex() {
    this(new Epochs());
  }

  /**
   * @param epochs where its readers announce themselves; best one for all tables of a process
   */
  public PrefixIndex(Epochs epochs) {
    this.epochs = epochs;
    sets = new OwnerSets(epochs);
    vacant = new Limbo(epochs, 1);
  }

  /**
   * Makes an owner known and live.
   *
   * @return its slot: small, dense, used again after {@link #freeOwner}
   */
  public int addOwner(Owner owner) {
    int slot = vacant.take();
    if (slot < 0) {
      slot = states.length;
      states = Arrays.copyOf(states, slot + 1);
      Gauge[] more = Arrays.copyOf(members, slot + 1);
      more[slot] = new Gauge();
      members = more;
    }
    states[slot] = State.LIVE;
    view = view.with(slot, owner);
    return slot;
  }

  /**
   * Hides an owner from every walk that starts from now on, whatever it still holds.
   *
   * @throws IllegalStateException if the slot's owner is not live
   */
  public void retireOwner(int slot) {
    expect(slot, State.LIVE);
    states[slot] = State.RETIRED;
    view = view.without(slot);
  }

  /**
   * Gives a retired owner's slot back. Its blocks should have been removed; if some were not, the
   * slot waits until they are.
   *
   * @throws IllegalStateException if the slot's owner is not retired
   */
  public void freeOwner(int slot) {
    expect(slot, State.RETIRED);
    states[slot] = State.FREED;
    vacateIfEmpty(slot);
  }

  private void expect(int slot, State expected) {
    checkWritable(slot);
    if (states[slot] != expected) {
      throw new IllegalStateException(
          "slot " + slot + " is " + states[slot] + ", expected " + expected);
    }
  }

  /** Whether blocks may be filed under the slot: live, or retired and not swept yet. */
  private void checkWritable(int slot) {
    if (slot < 0 || slot >= states.length || states[slot] == State.UNUSED) {
      throw new IllegalArgumentException("no owner in slot " + slot);
    }
  }

  private void vacateIfEmpty(int slot) {
    if (states[slot] == State.FREED && members[slot].get() == 0) {
      states[slot] = State.UNUSED;
      vacant.add(slot);
    }
  }

  /**
   * The owner in {@code slot} holds the block.
   *
   * @return false if it did before
   */
  public boolean add(long key, int slot) {
    boolean added = setFurther(key, slot, true);
    if (added) {
      members[slot].add(1);
    }
    return added;
  }

  /**
   * A block that the owner in {@code slot} holds is found under this key, too, or is not any more;
   * it counts once.
   *
   * @return false if that was so before
   */
  boolean setFurther(long key, int slot, boolean found) {
    checkWritable(slot);
    long mixed = Segment.mix(key);
    long[] segment = table.segmentOf(mixed);
    int at = Segment.slotOf(segment, mixed, key);
    OwnerSet from = at < 0 ? sets.empty() : sets.get(Segment.idAt(segment, at));
    if (from.contains(slot) == found) {
      return false;
    }
    OwnerSet to = sets.flip(from, slot);
    sets.retain(to);
    if (at < 0) {
      table.insert(mixed, key, to.id);
    } else if (to.id == OwnerSets.EMPTY) {
      table.remove(segment, mixed, at);
    } else {
      Segment.replaceId(segment, at, to.id);
    }
    // Only now: whoever starts after the release must not find the id any more.
    sets.release(from);
    return true;
  }

  /**
   * All owners of a set hold a block that nobody held: what {@link #add} does for each, at once.
   *
   * @return false if somebody does, and nothing has changed
   */
  boolean addAll(long key, OwnerSet set) {
    boolean added = addAllFurther(key, set);
    long[] words = set.words;
    for (int i = 0; added && i < words.length; i++) {
      for (long left = words[i]; left != 0; left &= left - 1) {
        members[i * Long.SIZE + Long.numberOfTrailingZeros(left)].add(1);
      }
    }
    return added;
  }

  /** What {@link #setFurther} does for each owner of a set; false = nothing has changed. */
  boolean addAllFurther(long key, OwnerSet set) {
    long mixed = Segment.mix(key);
    if (Segment.slotOf(table.segmentOf(mixed), mixed, key) >= 0) {
      return false;
    }
    sets.retain(set);
    table.insert(mixed, key, set.id);
    return true;
  }

  /** Whether anybody holds a block, live or not. */
  boolean isHeld(long key) {
    long mixed = Segment.mix(key);
    return Segment.slotOf(table.segmentOf(mixed), mixed, key) >= 0;
  }

  /**
   * The owner in {@code slot} does not hold the block any more.
   *
   * @return false if it did not before
   */
  public boolean remove(long key, int slot) {
    boolean removed = setFurther(key, slot, false);
    if (removed) {
      members[slot].add(-1);
      vacateIfEmpty(slot);
    }
    return removed;
  }

  /**
   * Asks the memory for the entry of a key about to be updated, so that the waiting for several
   * overlaps. Worth it for runs of a few blocks in a large table; changes nothing.
   *
   * @return to be kept alive, or the load would be left out
   */
  public long touch(long key) {
    long mixed = Segment.mix(key);
    long[] segment = table.segmentOf(mixed);
    return Segment.touch(segment, Segment.offset(mixed, segment.length));
  }

  /** Any thread: the live owners by slot. */
  public OwnerView owners() {
    return view;
  }

  /** Any thread: blocks the owner in a slot holds. */
  public long members(int slot) {
    Gauge[] all = members;
    return slot < all.length ? all[slot].get() : 0;
  }

  /** Any thread: sizes for metrics. */
  public IndexFigures figures() {
    return new IndexFigures(table.keys(), view.count(), table.bytes() + sets.bytes());
  }

  Epochs epochs() {
    return epochs;
  }

  /** Makes room for so many blocks, about; there are none yet, and nobody reads. */
  void expect(long blocks) {
    table.expect(blocks);
  }

  KeyTable table() {
    return table;
  }

  OwnerSets sets() {
    return sets;
  }
}
