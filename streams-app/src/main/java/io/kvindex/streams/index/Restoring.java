// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.MalformedRecordException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts names back into {@link Blocks} that have their tables, spaces and holders. One thread may
 * {@link #resolve} names while another inserts those before.
 */
public final class Restoring {

  /** Names whose memory is asked for at a time. */
  private static final int TOUCHED = 16;

  private final Blocks blocks;
  private final BlocksState.Places ring;
  private final Map<Blocks.Table, RestoredTable> tables = new HashMap<>();
  private final @Nullable RestoredTable[] bySpace;

  @SuppressWarnings("UnusedVariable") // keeps loads alive whose value nobody needs
  private long touched;

  Restoring(Blocks blocks, int spaces, BlocksState.Places ring) {
    this.blocks = blocks;
    this.ring = ring;
    bySpace = new RestoredTable[spaces];
    for (int ref = 0; ref < spaces; ref++) {
      if (blocks.hasSpace(ref)) {
        bySpace[ref] = tables.computeIfAbsent(blocks.space(ref).table(), RestoredTable::new);
      }
    }
  }

  /** One more than the highest number of a space. */
  public int spaces() {
    return bySpace.length;
  }

  private RestoredTable ofSpace(int ref) {
    RestoredTable table = ref >= 0 && ref < bySpace.length ? bySpace[ref] : null;
    if (table == null) {
      throw new MalformedRecordException("a name of space " + ref + ", which no row names");
    }
    return table;
  }

  /**
   * Has a name that was read tell slots instead of numbers, without those that say nothing any
   * more. Any thread.
   *
   * @throws MalformedRecordException if there is no such space
   */
  public void resolve(NameRow name) {
    RestoredTable table = ofSpace(name.space);
    int count = 0;
    for (int i = 0; i < name.holders; i++) {
      int slot = table.slotOf(name.holder[i], name.hash);
      if (slot != RestoredTable.NONE) {
        name.holder[count++] = slot;
      }
    }
    name.holders = count;
    int length = 0;
    for (int i = 0; i < name.counts.length; i += 2) {
      if (table.counts((int) (name.counts[i] >>> 8), name.hash)) {
        name.counts[length++] = name.counts[i];
        name.counts[length++] = name.counts[i + 1];
      }
    }
    name.counts = length < name.counts.length ? Arrays.copyOf(name.counts, length) : name.counts;
  }

  /** Takes what a holder has of a name. */
  @FunctionalInterface
  public interface Taker {
    /**
     * @param holderId of one that may be dead
     * @param group -1 = the only one its publisher has used so far
     * @param copies certain ones in the upper half, undecided ones in the lower
     */
    void take(int holderId, int group, long copies);
  }

  /**
   * Tells what holders have of a name that was read, certain copies first; those of one holder's
   * groups come one after the other.
   */
  public void each(NameRow name, Taker taker) {
    RestoredTable table = ofSpace(name.space);
    for (int i = 0; i < name.holders; i++) {
      int slot = table.slotOf(name.holder[i], name.hash);
      Holder holder = table.holderOf(slot);
      int group = holder == null ? -1 : holder.groupOf(slot);
      // The slot of all groups together tells nothing that those of each do not.
      if (holder != null && (group >= 0 || !holder.isGrouped())) {
        taker.take(holder.id(), group, name.copies(holder.id(), group));
      }
    }
    for (int i = 0; i < name.counts.length; i += 2) {
      if (name.counts[i + 1] >>> Integer.SIZE == 0) {
        taker.take(
            (int) (name.counts[i] >>> NameRow.GROUP_BITS),
            (int) name.counts[i] & NameRow.GROUP,
            name.counts[i + 1]);
      }
    }
  }

  /**
   * Makes room for what is going to come, before anything does: tables that grow bit by bit copy
   * each name ten times.
   *
   * @param names how many names of each space, about
   */
  public void expect(long[] names) {
    blocks.ring.restore(ring.from(), ring.to());
    Map<Blocks.Table, Long> ofTable = new HashMap<>();
    for (int ref = 0; ref < names.length; ref++) {
      if (blocks.hasSpace(ref)) {
        blocks.space(ref).names().expect(names[ref]);
        ofTable.merge(blocks.space(ref).table(), names[ref], Long::sum);
      }
    }
    // Engines may all have names of their own for a block, or a name may be a key of its own.
    ofTable.forEach((table, count) -> table.index.expect(Math.min(table.keysWritten, 2 * count)));
  }

  /**
   * Puts names where they were, once they are {@link #resolve resolved}. For the thread that owns
   * the blocks, after {@link #expect}.
   *
   * @throws MalformedRecordException if they can not all have been there
   */
  public void insert(NameRow[] names, int count) {
    for (int from = 0; from < count; from += TOUCHED) {
      int to = Math.min(count, from + TOUCHED);
      long seen = 0;
      for (int i = from; i < to; i++) {
        seen ^= blocks.space(names[i].space).table().index.touch(names[i].key);
      }
      touched = seen;
      for (int i = from; i < to; i++) {
        insert(names[i]);
      }
    }
  }

  private void insert(NameRow name) {
    Blocks.Space space = blocks.space(name.space);
    NameTable names = space.names();
    boolean held = name.holders > 0;
    boolean counted = name.counts.length > 0;
    boolean placed = name.place != NameRow.NO_PLACE;
    int context = blocks.contexts.retain(name.context);
    if (context == ContextRefs.FULL || placed == (held || counted)) {
      throw new MalformedRecordException("a name that is neither held nor not held");
    }
    if (!names.insert(name.hash, space.table().index.isHeld(name.key))) {
      throw new MalformedRecordException("too many names that begin alike");
    }
    long word = Blocks.word(name.byDevice, name.depth, context);
    if (counted) {
      word |= Blocks.COUNTED;
      copies(space, name);
    }
    if (held) {
      OwnerSets sets = space.table().index.sets();
      OwnerSet set = sets.of(name.holder, name.holders);
      sets.retain(set);
      word |= Blocks.HELD | set.id;
      holders(space, set, name.hash, name.key);
    } else if (placed) {
      word |= name.place;
      place(name);
    } else {
      word |= Blocks.NO_PLACE;
    }
    names.describe(name.key, word, name.local, name.parent);
  }

  private void copies(Blocks.Space space, NameRow name) {
    long[] copies = name.counts;
    blocks.counts.restore(space.ref(), name.hash, copies);
    for (int i = 0; i < copies.length; i += 2) {
      Holder holder = ofSpace(space.ref()).holder((int) (copies[i] >>> 8));
      if (holder != null) {
        holder.addUndecided(Blocks.isUndecided(copies[i + 1]) ? 1 : 0);
        holder.usesSpace(space.ref());
      }
    }
  }

  private void holders(Blocks.Space space, OwnerSet set, long hash, long key) {
    PrefixIndex index = space.table().index;
    long name = Blocks.nameKey(space, hash, key);
    boolean further = name != key && !index.addAllFurther(name, set);
    boolean all = index.addAll(key, set);
    for (int word = 0; word < set.words.length; word++) {
      for (long left = set.words[word]; left != 0; left &= left - 1) {
        int slot = word * Long.SIZE + Long.numberOfTrailingZeros(left);
        if (further) {
          index.setFurther(name, slot, true);
        }
        if (!all && !index.add(key, slot)) {
          blocks.addAlias(space.table(), slot, key);
        }
        Holder holder = space.table().bySlot[slot];
        if (holder != null) {
          holder.usesSpace(space.ref());
        }
      }
    }
  }

  private void place(NameRow name) {
    UnheldRing ring = blocks.ring;
    long place = ring.tail() & ~Blocks.LOW | name.place;
    place -= place >= ring.tail() ? Blocks.LOW + 1 : 0;
    if (place < ring.head() || !ring.isFree(place)) {
      throw new MalformedRecordException("a name at place " + place + " of the ring");
    }
    ring.restore(place, name.space, name.hash);
  }
}
