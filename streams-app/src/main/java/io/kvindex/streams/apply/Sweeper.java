// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.BlockRow;
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
import org.jspecify.annotations.Nullable;

/**
 * Deletes the rows of dead owners in small steps: their blocks, and those of them that wait as
 * orphans. Nobody sees them any more, so nobody waits for it.
 */
final class Sweeper {

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> store;
  private final Unheld unheld;
  private int sweptOwner;

  /**
   * Last row of {@link #sweptOwner} that was deleted: reading on from there, instead of from the
   * owner's first row, keeps RocksDB from stepping over all the tombstones again.
   */
  private @Nullable Bytes sweptTo;

  /**
   * @param unheld told of blocks whose last holder was swept
   */
  Sweeper(PartitionTable table, KeyValueStore<Bytes, byte[]> store, Unheld unheld) {
    this.table = table;
    this.store = store;
    this.unheld = unheld;
  }

  /** Deletes up to {@code most} rows, a few more for orphans; whether there are more. */
  boolean sweep(int most) {
    int left = most;
    while (left > 0 && !table.owners().dead().isEmpty()) {
      OwnerState owner = table.owners().dead().iterator().next();
      List<KeyValue<Bytes, byte[]>> rows = read(owner, left);
      left -= rows.size() + 1;
      if (rows.isEmpty()) {
        Bytes key = RowKeys.ofId(RowKind.OWNER, owner.id());
        store.delete(key);
        table.fold(key.get(), null);
        sweptTo = null;
      } else {
        delete(owner, rows);
      }
    }
    return !table.owners().dead().isEmpty();
  }

  private List<KeyValue<Bytes, byte[]>> read(OwnerState owner, int most) {
    List<KeyValue<Bytes, byte[]>> rows = new ArrayList<>();
    Bytes start = owner.id() == sweptOwner ? sweptTo : null;
    Bytes from = start == null ? RowKeys.ofId(RowKind.BLOCK, owner.id()) : start;
    Bytes to = RowKeys.ofId(RowKind.BLOCK, owner.id() + 1);
    try (KeyValueIterator<Bytes, byte[]> all = store.range(from, to)) {
      // The end is included, and as a bare prefix it is no row itself.
      while (all.hasNext() && rows.size() < most) {
        rows.add(all.next());
      }
    }
    return rows;
  }

  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  private void delete(OwnerState owner, List<KeyValue<Bytes, byte[]>> rows) {
    List<KeyValue<Bytes, byte[]>> tombstones = new ArrayList<>(rows.size());
    List<Bytes> orphans = new ArrayList<>();
    for (KeyValue<Bytes, byte[]> row : rows) {
      tombstones.add(KeyValue.pair(row.key, null));
      BlockRow block = BlockRow.decode(row.value);
      if (!block.resolved()) {
        long hash = RowKeys.hash(row.key.get());
        orphans.add(
            RowKeys.orphan(block.space(), hash, owner.id(), RowKeys.blockGroup(row.key.get())));
      }
    }
    orphans.forEach(orphan -> tombstones.add(KeyValue.pair(orphan, null)));
    store.putAll(tombstones);
    orphans.forEach(orphan -> table.fold(orphan.get(), null));
    rows.forEach(row -> follow(owner, row));
    sweptOwner = owner.id();
    sweptTo = rows.get(rows.size() - 1).key;
  }

  private void follow(OwnerState owner, KeyValue<Bytes, byte[]> row) {
    BlockRow block = BlockRow.decode(row.value);
    long hash = RowKeys.hash(row.key.get());
    table.foldBlock(owner.id(), hash, RowKeys.blockGroup(row.key.get()), block, null);
    if (block.resolved() && !owner.index().held(block.lookupKey())) {
      unheld.block(block.space(), hash, block.lookupKey(), false);
    }
  }
}
