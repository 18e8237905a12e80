// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.Publisher;
import io.kvindex.streams.table.SpaceRow;
import org.jspecify.annotations.Nullable;

/**
 * In which space a publisher's hashes are looked up and taught: its own if it has one, then the one
 * all of its table and namespace share. Used again and again, for one publisher at a time.
 */
final class Spaces {

  /** No space has this number. */
  static final int NONE = -1;

  private final PartitionTable table;
  private final Blocks blocks;
  private final Counts counts;
  private SpaceRow row = new SpaceRow(0, null, SpaceRow.SHARED);
  private int shared;
  private int own;

  Spaces(PartitionTable table, Counts counts) {
    this.table = table;
    blocks = table.blocks();
    this.counts = counts;
  }

  /** Goes on with a publisher. */
  void of(int tableRef, @Nullable String namespace, Publisher publisher) {
    row = new SpaceRow(tableRef, namespace, publisher.ref());
    shared = table.refOf(new SpaceRow(tableRef, namespace, SpaceRow.SHARED));
    Integer known = table.spaces().ref(row);
    own = known == null ? NONE : known; // it never disagreed with the others
  }

  int shared() {
    return shared;
  }

  /** Where what it says first is taught, and waited for. */
  int first() {
    return own == NONE ? shared : own;
  }

  /** Looks a hash up; in which space it was found, {@link #NONE} = in none. */
  int lookUp(long hash, Meaning meaning) {
    if (own != NONE) {
      meaning.lookUp(blocks, own, hash);
      if (meaning.known) {
        return own;
      }
    }
    meaning.lookUp(blocks, shared, hash);
    return meaning.known ? shared : NONE;
  }

  /**
   * Keeps what a hash means, where others say otherwise in a space of the publisher's own.
   *
   * @param before what it meant so far
   * @param beforeIn where that was found
   * @return the space in which it means this now, {@link #NONE} = it can not be kept
   */
  int teach(long hash, Meaning meaning, Meaning before, int beforeIn) {
    boolean outranks = before.known && !before.byDevice && meaning.byDevice;
    if (before.known && before.isSameAs(meaning) && !outranks) {
      return beforeIn;
    }
    int to = !before.known ? first() : outranks ? beforeIn : own;
    if (to == NONE) {
      counts.add(Outcome.HASH_DISAGREEMENT);
      own = table.refOf(row);
      to = own;
    }
    if (!meaning.teach(blocks, to, hash)) {
      counts.add(Outcome.CONTEXT_LIMIT);
      return NONE;
    }
    return to;
  }
}
