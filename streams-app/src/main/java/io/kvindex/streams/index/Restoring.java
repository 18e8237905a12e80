// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.MalformedRecordException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts names back into {@link Blocks} that have their tables, spaces and holders. One thread may
 * fill {@link NameBatch}es while another inserts them.
 */
public final class Restoring {

  /** Names whose memory is asked for at a time. */
  private static final int TOUCHED = 16;

  private final Blocks blocks;
  private final Map<Blocks.Table, RestoredTable> tables = new HashMap<>();
  private final @Nullable RestoredTable[] bySpace;

  Restoring(Blocks blocks, int spaces) {
    this.blocks = blocks;
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

  /**
   * Makes room for what is going to come, before anything does: tables that grow bit by bit copy
   * each name ten times.
   *
   * @param names how many names of each space, about
   */
  public void expect(long[] names) {
    Map<Blocks.Table, Long> ofTable = new HashMap<>();
    for (int ref = 0; ref < names.length; ref++) {
      if (blocks.hasSpace(ref)) {
        blocks.space(ref).names().expect(names[ref]);
        ofTable.merge(blocks.space(ref).table(), names[ref], Long::sum);
      }
    }
    ofTable.forEach((table, count) -> table.index.expect(count));
  }

  /** An empty one. Any thread. */
  public NameBatch newBatch() {
    return new NameBatch(this);
  }

  RestoredTable ofSpace(int ref) {
    RestoredTable table = ref >= 0 && ref < bySpace.length ? bySpace[ref] : null;
    if (table == null) {
      throw new MalformedRecordException("a name of space " + ref + ", which no row names");
    }
    return table;
  }

  /**
   * Puts names where they were. For the thread that owns the blocks.
   *
   * @throws MalformedRecordException if they can not all have been there
   */
  public void insert(NameBatch batch) {
    for (int from = 0; from < batch.size(); from += TOUCHED) {
      int to = Math.min(batch.size(), from + TOUCHED);
      touch(batch, from, to);
      for (int i = from; i < to; i++) {
        insert(batch, i);
      }
    }
  }

  /** Asks the memory for where names of a batch will be. */
  private void touch(NameBatch batch, int from, int to) {
    for (int i = from; i < to; ) {
      int ref = batch.space[i];
      int end = i + 1;
      while (end < to && batch.space[end] == ref) {
        end++;
      }
      blocks.space(ref).table().index.touch(batch.key, i, end);
      i = end;
    }
  }

  private void insert(NameBatch batch, int i) {
    Blocks.Space space = blocks.space(batch.space[i]);
    NameTable names = space.names();
    long hash = batch.hash[i];
    long[] copies = batch.counts[i];
    OwnerSet set = set(space, batch, i);
    int context = blocks.contexts.retain(batch.context[i]);
    boolean placed = batch.place[i] != NameBatch.NO_PLACE;
    if (context == ContextRefs.FULL || placed == (set != null || copies != null)) {
      throw new MalformedRecordException("a name that is neither held nor not held");
    }
    if (!names.insert(hash)) {
      throw new MalformedRecordException("too many names that begin alike");
    }
    long word = Blocks.word(batch.byDevice[i], batch.depth[i], context);
    if (copies != null) {
      word |= Blocks.COUNTED;
      copies(space, hash, copies);
    }
    if (set != null) {
      word |= Blocks.HELD | set.id;
      holders(space, set, hash, batch.key[i]);
    } else if (placed) {
      word |= batch.place[i];
      place(space, batch.place[i], hash);
    } else {
      word |= Blocks.NO_PLACE;
    }
    names.set(NameTable.KEY, batch.key[i]);
    names.set(NameTable.WORD, word);
    names.set(NameTable.LOCAL, batch.local[i]);
    names.set(NameTable.PARENT, batch.parent[i]);
  }

  private static @Nullable OwnerSet set(Blocks.Space space, NameBatch batch, int i) {
    OwnerSets sets = space.table().index.sets();
    long[] bits = batch.bits[i];
    if (bits == null && batch.slot[i] == NameBatch.NO_SLOT) {
      return null;
    }
    OwnerSet set = bits == null ? sets.flip(sets.empty(), batch.slot[i]) : sets.of(bits);
    sets.retain(set);
    return set;
  }

  private void copies(Blocks.Space space, long hash, long[] copies) {
    blocks.counts.restore(space.ref(), hash, copies);
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
          index.addFurther(name, slot);
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

  private void place(Blocks.Space space, long low, long hash) {
    UnheldRing ring = blocks.ring;
    long place = ring.tail() & ~Blocks.LOW | low;
    place -= place >= ring.tail() ? Blocks.LOW + 1 : 0;
    if (place < ring.head() || !ring.isFree(place)) {
      throw new MalformedRecordException("a name at place " + place + " of the ring");
    }
    ring.restore(place, space.ref(), hash);
  }
}
