// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** Residency changes of one record, net per row. */
final class BlockChanges {

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> store;
  private final Unheld unheld;
  private final Map<Bytes, BlockChange> changes = new LinkedHashMap<>();

  BlockChanges(PartitionTable table, KeyValueStore<Bytes, byte[]> store, Unheld unheld) {
    this.table = table;
    this.store = store;
    this.unheld = unheld;
  }

  /** The change of a row, read from the store at its first mention. */
  BlockChange of(OwnerState owner, long engineHash, int group) {
    return of(owner, engineHash, group, true);
  }

  /** As {@link #of(OwnerState, long, int)}, for a row known not to be there: saves the read. */
  BlockChange ofAbsent(OwnerState owner, long engineHash, int group) {
    return of(owner, engineHash, group, false);
  }

  private BlockChange of(OwnerState owner, long engineHash, int group, boolean read) {
    Bytes key = RowKeys.block(owner.id(), engineHash, group);
    BlockChange change = changes.get(key);
    if (change == null) {
      byte[] value = read ? store.get(key) : null;
      BlockRow before = value == null ? null : BlockRow.decode(value);
      change = new BlockChange(owner, engineHash, group, before);
      changes.put(key, change);
    }
    return change;
  }

  /** Adds the rows that differ from what is stored. */
  void write(RowBatch batch) {
    for (Map.Entry<Bytes, BlockChange> entry : changes.entrySet()) {
      BlockChange change = entry.getValue();
      BlockRow after = change.after();
      if (!Objects.equals(change.before, after)) {
        batch.block(entry.getKey(), after == null ? null : after.encode());
      }
      dropOrphan(batch, change, after);
    }
  }

  private void dropOrphan(RowBatch batch, BlockChange change, @Nullable BlockRow after) {
    boolean waits = after != null && !after.resolved();
    if (!waits && table.orphans().size() > 0) {
      int space = change.before != null && !change.before.resolved() ? change.before.space() : 0;
      dropOrphan(batch, change, space);
      if (change.space() != space) {
        dropOrphan(batch, change, change.space());
      }
    }
  }

  private void dropOrphan(RowBatch batch, BlockChange change, int space) {
    if (table.orphans().has(space, change.engineHash, change.owner.id(), change.group)) {
      batch.put(RowKeys.orphan(space, change.engineHash, change.owner.id(), change.group), null);
    }
  }

  /** Brings the index up to the rows, which are written by now. */
  void fold() {
    for (BlockChange change : changes.values()) {
      table.residency().fold(change.owner, change.engineHash, change.before, change.after());
    }
    for (BlockChange change : changes.values()) {
      reportUnheld(change);
    }
    changes.clear();
  }

  private void reportUnheld(BlockChange change) {
    BlockRow before = change.before;
    if (!change.present() && change.isResolved()) {
      report(change, change.space(), change.lookupKey());
    }
    if (before != null && before.resolved() && before.lookupKey() != change.lookupKey()) {
      report(change, before.space(), before.lookupKey());
    }
  }

  private void report(BlockChange change, int space, long lookupKey) {
    if (!change.owner.index().held(lookupKey)) {
      unheld.block(space, change.engineHash, lookupKey);
    }
  }
}
