// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.table.PartitionTable;

/** Numbers that stand for tables and publishers in rows; who has none yet gets one. */
final class RowRefs {

  private final PartitionTable table;

  RowRefs(PartitionTable table) {
    this.table = table;
  }

  /** That of the record's table. */
  int ofTable(EventRecord next) {
    Integer known = table.tables().tableRef(next.table());
    if (known != null) {
      return known;
    }
    int ref = table.tables().nextTable();
    table.put(RowKeys.ofId(RowKind.TABLE, ref), new TableRow(next.table()).encode());
    return ref;
  }

  /** That of the record's publisher. */
  int ofPublisher(EventRecord next) {
    Integer known = table.publishers().ref(next.stream().publisher());
    if (known != null) {
      return known;
    }
    int ref = table.publishers().next();
    PublisherRow row =
        new PublisherRow(next.stream().publisher(), Incarnation.NONE, 0, false)
            .reborn(next.incarnation());
    table.put(RowKeys.ofId(RowKind.PUBLISHER, ref), row.encode());
    return ref;
  }
}
