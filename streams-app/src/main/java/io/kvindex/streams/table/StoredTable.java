// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.NameRow;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.Restoring;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.StreamPosition;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import net.openhft.hashing.LongHashFunction;
import org.rocksdb.RocksDBException;

/** What the rows beside the blocks say, and with it who holds a block. */
final class StoredTable {

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  /** Takes what one owner holds of a name in one group. */
  interface Taker {
    /**
     * @param copies certain ones in the upper half, undecided ones in the lower
     */
    void take(OwnerState owner, int group, long copies);
  }

  /** Without its blocks. */
  private final PartitionTable table;

  private final Restoring names;
  private final Map<Integer, OwnerState> live = new HashMap<>();

  StoredTable(StoredRows from) throws RocksDBException {
    table = new PartitionTable(from.header().partition(), new Epochs(), Journal.none());
    table.load(from.dictionary());
    names = table.blocks().restore(from.header().state());
    for (OwnerState owner : table.owners().all()) {
      if (!owner.holder().isDead()) {
        live.put(owner.id(), owner);
      }
    }
  }

  /** Live owners, by number. */
  Map<Integer, OwnerState> live() {
    return live;
  }

  /** Blocks whose prefix is not known, those of the dead included. */
  Collection<Orphan> orphans() {
    return table.waiting().all();
  }

  Streams streams() {
    return table.streams();
  }

  /** Who an owner is in whichever fold. */
  OwnerIdentity identity(OwnerState owner) {
    Owner of = owner.owner();
    return new OwnerIdentity(
        table.tableId(owner.tableRef()),
        owner.publisher().id(),
        of.rank(),
        of.medium(),
        of.backendId(),
        of.pool(),
        of.incarnation().generation(),
        of.incarnation().life(),
        owner.expiresAtMs());
  }

  /** Attention groups of an owner's publisher, a bit each, one at least. */
  long groups(OwnerState owner) {
    long groups = owner.publisher().groups();
    return groups == 0 ? 1 : groups;
  }

  /** Sum of what all streams' positions come to. */
  long positions() {
    long sum = 0;
    for (StreamState stream : table.streams().all()) {
      StreamPosition at = stream.at();
      sum +=
          HASH.hashChars(
              stream.id().key()
                  + ' '
                  + at.incarnation().generation()
                  + ' '
                  + at.incarnation().life()
                  + ' '
                  + at.last()
                  + ' '
                  + (at.gaps() + (at.retells() ? 1 : 0)));
    }
    return sum;
  }

  /**
   * Tells what live owners have of a name, certain copies first; those of one owner's groups come
   * one after the other.
   */
  void each(NameRow name, Taker taker) {
    names.each(
        name,
        (holderId, group, copies) -> {
          OwnerState owner = live.get(holderId);
          if (owner != null) {
            int of = group < 0 ? Long.numberOfTrailingZeros(groups(owner)) : group;
            taker.take(owner, of, copies);
          }
        });
  }
}
