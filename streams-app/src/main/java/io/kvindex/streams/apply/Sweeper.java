// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Deletes the rows of dead owners in small steps. Nobody sees them any more, so nobody waits for
 * it.
 */
final class Sweeper {

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> store;

  Sweeper(PartitionTable table, KeyValueStore<Bytes, byte[]> store) {
    this.table = table;
    this.store = store;
  }

  /** Deletes up to {@code most} rows; whether there are more. */
  boolean sweep(int most) {
    if (table.owners().dead().isEmpty()) {
      return false;
    }
    OwnerState owner = table.owners().dead().iterator().next();
    List<KeyValue<Bytes, byte[]>> rows = read(owner, most);
    if (rows.isEmpty()) {
      Bytes key = RowKeys.ofId(RowKind.OWNER, owner.id());
      store.delete(key);
      table.fold(key.get(), null, null);
      return !table.owners().dead().isEmpty();
    }
    delete(rows);
    return true;
  }

  private List<KeyValue<Bytes, byte[]>> read(OwnerState owner, int most) {
    List<KeyValue<Bytes, byte[]>> rows = new ArrayList<>();
    Bytes from = RowKeys.ofId(RowKind.BLOCK, owner.id());
    Bytes to = RowKeys.ofId(RowKind.BLOCK, owner.id() + 1);
    try (KeyValueIterator<Bytes, byte[]> all = store.range(from, to)) {
      while (all.hasNext() && rows.size() < most) {
        rows.add(all.next());
      }
    }
    return rows;
  }

  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  private void delete(List<KeyValue<Bytes, byte[]>> rows) {
    List<KeyValue<Bytes, byte[]>> tombstones = new ArrayList<>(rows.size());
    rows.forEach(row -> tombstones.add(KeyValue.pair(row.key, null)));
    store.putAll(tombstones);
    rows.forEach(row -> table.fold(row.key.get(), row.value, null));
  }
}
