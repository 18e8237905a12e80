// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.table.PartitionTable;
import org.jspecify.annotations.Nullable;

/**
 * In which space a publisher's hashes are looked up: its own if it has one, then the one all share.
 */
final class Spaces {

  private final PartitionTable table;
  private final RowBatch batch;
  private final Contents contents;

  Spaces(PartitionTable table, RowBatch batch, Contents contents) {
    this.table = table;
    this.batch = batch;
    this.contents = contents;
  }

  /** The space all publishers of a table and namespace share. */
  int shared(int tableRef, @Nullable String namespace) {
    return ensure(new SpaceRow(tableRef, namespace, SpaceRow.SHARED));
  }

  /** A publisher's own space, null = it never disagreed with the others. */
  @Nullable Integer own(int tableRef, @Nullable String namespace, int publisherRef) {
    return table.tables().spaceRef(new SpaceRow(tableRef, namespace, publisherRef));
  }

  /** Gives a publisher a space of its own. */
  int createOwn(int tableRef, @Nullable String namespace, int publisherRef) {
    return ensure(new SpaceRow(tableRef, namespace, publisherRef));
  }

  /** Meaning of a hash for a publisher, null = not known. */
  @Nullable ContentRow lookUp(@Nullable Integer own, int shared, long hash) {
    ContentRow found = own == null ? null : contents.get(own, hash);
    return found == null ? contents.get(shared, hash) : found;
  }

  private int ensure(SpaceRow row) {
    Integer known = table.tables().spaceRef(row);
    if (known != null) {
      return known;
    }
    int ref = table.tables().nextSpace();
    batch.put(RowKeys.ofId(RowKind.SPACE, ref), row.encode());
    return ref;
  }
}
