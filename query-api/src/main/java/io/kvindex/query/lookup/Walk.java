// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;

/** One walk of a prompt through a table, wherever that is. Reused; one thread at a time. */
public final class Walk {
  /** {@link #notBefore} of a walk any state of the table will do for. */
  public static final long ANY = -1;

  private final PrefixReader reader = new PrefixReader();
  private BlockKeys keys = (out, from, max) -> 0;
  private long[] contexts = {};
  private Deadline deadline = Deadline.NONE;
  private long notBefore = ANY;

  /** For one thread. */
  public Walk() {}

  /**
   * Begins anew.
   *
   * @param prompt the rolling hashes
   * @param xors what to xor into them, one for each context; not copied
   * @param end when the answer is of no use any more
   * @param offset of the events topic that must be visible, {@link #ANY} = none
   */
  public Walk of(BlockKeys prompt, long[] xors, Deadline end, long offset) {
    keys = prompt;
    contexts = xors;
    deadline = end;
    notBefore = offset;
    return this;
  }

  public BlockKeys keys() {
    return keys;
  }

  public long[] contexts() {
    return contexts;
  }

  public Deadline deadline() {
    return deadline;
  }

  /** Offset of the events topic that must be visible to the walk, {@link #ANY} = none. */
  public long notBefore() {
    return notBefore;
  }

  /** Walks an index of this process; see {@link PrefixReader#walk}. */
  public int through(PrefixIndex index, RunVisitor visitor) {
    return reader.walk(index, keys, contexts, visitor);
  }
}
