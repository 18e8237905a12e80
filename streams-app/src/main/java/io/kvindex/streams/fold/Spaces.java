// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.table.PartitionTable;
import org.jspecify.annotations.Nullable;

/**
 * In which space a publisher's hashes are looked up: its own if it has one, then the one all share.
 */
final class Spaces {

  /** No space has this number. */
  static final int NONE = -1;

  private final PartitionTable table;

  Spaces(PartitionTable table) {
    this.table = table;
  }

  /** The space all publishers of a table and namespace share. */
  int shared(int tableRef, @Nullable String namespace) {
    return ensure(new SpaceRow(tableRef, namespace, SpaceRow.SHARED));
  }

  /** A publisher's own space, {@link #NONE} = it never disagreed with the others. */
  int own(int tableRef, @Nullable String namespace, int publisherRef) {
    Integer known = table.tables().spaceRef(new SpaceRow(tableRef, namespace, publisherRef));
    return known == null ? NONE : known;
  }

  /** Gives a publisher a space of its own. */
  int createOwn(int tableRef, @Nullable String namespace, int publisherRef) {
    return ensure(new SpaceRow(tableRef, namespace, publisherRef));
  }

  /** Looks a publisher's hash up; in which space it was found, {@link #NONE} = in none. */
  int lookUp(int own, int shared, long hash, Meaning meaning) {
    if (own != NONE) {
      meaning.lookUp(table.blocks(), own, hash);
      if (meaning.isKnown()) {
        return own;
      }
    }
    meaning.lookUp(table.blocks(), shared, hash);
    return meaning.isKnown() ? shared : NONE;
  }

  private int ensure(SpaceRow row) {
    Integer known = table.tables().spaceRef(row);
    if (known != null) {
      return known;
    }
    int ref = table.tables().nextSpace();
    table.put(RowKeys.ofId(RowKind.SPACE, ref), row.encode());
    return ref;
  }
}
