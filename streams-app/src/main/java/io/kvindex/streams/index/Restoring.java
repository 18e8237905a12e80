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
    blocks.expect(names);
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
      blocks.touch(batch, from, to);
      for (int i = from; i < to; i++) {
        blocks.restore(batch, i, ofSpace(batch.space[i]));
      }
    }
  }
}
