// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.RowHash;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.RememberedBlocks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** Residency changes of one record, net per row, in the order of their first mention. */
final class BlockChanges {

  private static final int SMALLEST = 64;

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> store;
  private final Unheld unheld;
  private final RememberedBlocks remembered;
  private final List<BlockChange> changes = new ArrayList<>();

  /** Open addressing: number of the change + 1, 0 = free; at most half full. */
  private int[] places = new int[SMALLEST];

  private long[] keys = new long[SMALLEST];

  BlockChanges(
      PartitionTable table,
      KeyValueStore<Bytes, byte[]> store,
      Unheld unheld,
      RememberedBlocks remembered) {
    this.remembered = remembered;
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
    int place = place(owner, engineHash, group);
    if (places[place] != 0) {
      return changes.get(places[place] - 1);
    }
    BlockRow before = read ? stored(owner.id(), engineHash, group) : null;
    BlockChange change = new BlockChange(owner, engineHash, group, before);
    changes.add(change);
    places[place] = changes.size();
    if (2 * changes.size() > places.length) {
      grow();
    }
    return change;
  }

  private @Nullable BlockRow stored(int ownerId, long engineHash, int group) {
    BlockRow known = remembered.get(ownerId, engineHash, group);
    if (known != null) {
      return known;
    }
    byte[] value = store.get(RowKeys.block(ownerId, engineHash, group));
    return value == null ? null : BlockRow.decode(value);
  }

  /** Where a row's change is, or would be. */
  private int place(OwnerState owner, long engineHash, int group) {
    int place = RowHash.of(owner.id(), engineHash, group) & places.length - 1;
    while (places[place] != 0) {
      BlockChange change = changes.get(places[place] - 1);
      if (change.engineHash == engineHash && change.owner == owner && change.group == group) {
        return place;
      }
      place = place + 1 & places.length - 1;
    }
    return place;
  }

  private void grow() {
    places = new int[2 * places.length];
    for (int i = 0; i < changes.size(); i++) {
      BlockChange change = changes.get(i);
      places[place(change.owner, change.engineHash, change.group)] = i + 1;
    }
  }

  /** Hands out all blocks of an owner as they are now, those of the record under way included. */
  void forEach(OwnerState owner, Consumer<BlockChange> taker) {
    List<BlockChange> stored = new ArrayList<>();
    Bytes from = RowKeys.ofId(RowKind.BLOCK, owner.id());
    Bytes to = RowKeys.ofId(RowKind.BLOCK, owner.id() + 1);
    int known = changes.size();
    try (KeyValueIterator<Bytes, byte[]> all = store.range(from, to)) {
      while (all.hasNext()) {
        byte[] key = all.next().key.get();
        stored.add(of(owner, RowKeys.hash(key), RowKeys.blockGroup(key)));
      }
    }
    stored.forEach(taker);
    for (int i = 0; i < known; i++) {
      if (changes.get(i).owner == owner && changes.get(i).before == null) {
        taker.accept(changes.get(i));
      }
    }
  }

  private void clear() {
    changes.clear();
    if (places.length > 64 * SMALLEST) {
      places = new int[SMALLEST];
    } else {
      Arrays.fill(places, 0);
    }
  }

  /** Adds the rows that differ from what is stored. */
  void write(RowBatch batch) {
    for (BlockChange change : changes) {
      BlockRow after = change.after();
      if (!Objects.equals(change.before, after)) {
        batch.block(
            RowKeys.block(change.owner.id(), change.engineHash, change.group),
            after == null ? null : after.encode());
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
    touch();
    for (BlockChange change : changes) {
      BlockRow after = change.after();
      remembered.written(change.owner.id(), change.engineHash, change.group, after);
      table.residency().fold(change.owner, change.engineHash, change.group, change.before, after);
    }
    changes.forEach(this::reportUnheld);
    clear();
  }

  /** A record's blocks are in one table: their entries are fetched together, not one by one. */
  private void touch() {
    if (changes.isEmpty()) {
      return;
    }
    if (keys.length < changes.size()) {
      keys = new long[2 * changes.size()];
    }
    for (int i = 0; i < changes.size(); i++) {
      keys[i] = changes.get(i).lookupKey();
    }
    changes.get(0).owner.index().touch(keys, changes.size());
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
      boolean whole = !table.publishers().get(change.owner.row().publisherRef()).hasSeveralGroups();
      unheld.block(space, change.engineHash, lookupKey, whole);
    }
  }
}
