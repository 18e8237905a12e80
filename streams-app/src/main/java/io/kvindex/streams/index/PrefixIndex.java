// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

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
  private final OwnerSlots slots;

  @SuppressWarnings("UnusedVariable") // keeps the loads of touch() alive
  private long touched;

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
    slots = new OwnerSlots(epochs);
  }

  /**
   * Makes an owner known and live.
   *
   * @return its slot: small, dense, used again after {@link #freeOwner}
   */
  public int addOwner(Owner owner) {
    return slots.add(owner);
  }

  /**
   * Hides an owner from every walk that starts from now on, whatever it still holds.
   *
   * @throws IllegalStateException if the slot's owner is not live
   */
  public void retireOwner(int slot) {
    slots.retire(slot);
  }

  /**
   * Gives a retired owner's slot back. Its blocks should have been removed; if some were not, the
   * slot waits until they are.
   *
   * @throws IllegalStateException if the slot's owner is not retired
   */
  public void freeOwner(int slot) {
    slots.free(slot);
  }

  /**
   * The owner in {@code slot} holds the block.
   *
   * @return false if it did before
   */
  public boolean add(long key, int slot) {
    boolean added = set(key, slot);
    if (added) {
      slots.joined(slot);
    }
    return added;
  }

  /**
   * A block that the owner in {@code slot} holds is found under this key, too, until {@link
   * #removeFurther}; it counts once.
   *
   * @return false if one was found under it before
   */
  public boolean addFurther(long key, int slot) {
    return set(key, slot);
  }

  /** Takes {@link #addFurther} back. */
  public void removeFurther(long key, int slot) {
    clear(key, slot);
  }

  private boolean set(long key, int slot) {
    slots.checkWritable(slot);
    long mixed = Segment.mix(key);
    long[] segment = table.segmentOf(mixed);
    int at = Segment.slotOf(segment, mixed, key);
    OwnerSet from = at < 0 ? sets.empty() : sets.get(Segment.idAt(segment, at));
    if (from.contains(slot)) {
      return false;
    }
    OwnerSet to = sets.flip(from, slot);
    sets.retain(to);
    if (at < 0) {
      table.insert(mixed, key, to.id);
    } else {
      Segment.replaceId(segment, at, to.id);
      sets.release(from);
    }
    return true;
  }

  /**
   * All owners of a set hold a block that nobody held: what {@link #add} does for each, at once.
   *
   * @return false if somebody does, and nothing has changed
   */
  boolean addAll(long key, OwnerSet set) {
    boolean added = setAll(key, set);
    long[] words = set.words;
    for (int i = 0; added && i < words.length; i++) {
      for (long left = words[i]; left != 0; left &= left - 1) {
        slots.joined(i * Long.SIZE + Long.numberOfTrailingZeros(left));
      }
    }
    return added;
  }

  /** What {@link #addFurther} does for each owner of a set; false = nothing has changed. */
  boolean addAllFurther(long key, OwnerSet set) {
    return setAll(key, set);
  }

  private boolean setAll(long key, OwnerSet set) {
    long mixed = Segment.mix(key);
    if (Segment.slotOf(table.segmentOf(mixed), mixed, key) >= 0) {
      return false;
    }
    sets.retain(set);
    table.insert(mixed, key, set.id);
    return true;
  }

  /**
   * The owner in {@code slot} does not hold the block any more.
   *
   * @return false if it did not before
   */
  public boolean remove(long key, int slot) {
    boolean removed = clear(key, slot);
    if (removed) {
      slots.left(slot);
    }
    return removed;
  }

  private boolean clear(long key, int slot) {
    slots.checkWritable(slot);
    long mixed = Segment.mix(key);
    long[] segment = table.segmentOf(mixed);
    int at = Segment.slotOf(segment, mixed, key);
    if (at < 0) {
      return false;
    }
    OwnerSet from = sets.get(Segment.idAt(segment, at));
    if (!from.contains(slot)) {
      return false;
    }
    OwnerSet to = sets.flip(from, slot);
    if (to.id == OwnerSets.EMPTY) {
      table.remove(segment, mixed, at);
    } else {
      sets.retain(to);
      Segment.replaceId(segment, at, to.id);
    }
    // Only now: whoever starts after the release must not find the id any more.
    sets.release(from);
    return true;
  }

  /**
   * Asks the memory for the entries of keys about to be updated, so that the waiting overlaps.
   * Worth it for runs of a few blocks in a large table; changes nothing.
   *
   * @param keys at least {@code count} lookup keys
   */
  public void touch(long[] keys, int count) {
    touch(keys, 0, count);
  }

  void touch(long[] keys, int from, int to) {
    long seen = 0;
    for (int i = from; i < to; i++) {
      seen ^= look(keys[i]);
    }
    touched = seen;
  }

  /** The same for one key. */
  void touch(long key) {
    touched = look(key);
  }

  private long look(long key) {
    long mixed = Segment.mix(key);
    long[] segment = table.segmentOf(mixed);
    return Segment.touch(segment, Segment.offset(mixed, segment.length));
  }

  /** Any thread: the live owners by slot. */
  public OwnerView owners() {
    return slots.view();
  }

  /** Any thread: blocks the owner in a slot holds. */
  public long members(int slot) {
    return slots.members(slot);
  }

  /** Any thread: sizes for metrics. */
  public IndexFigures figures() {
    return new IndexFigures(table.keys(), slots.view().count(), table.bytes() + sets.bytes());
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
