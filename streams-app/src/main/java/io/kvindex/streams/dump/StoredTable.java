// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.model.TableId;
import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.StoredHolders;
import io.kvindex.streams.row.Orphan;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.view.OwnerIdentity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/** What the rows beside the blocks say: tables, live owners, streams, orphans. */
final class StoredTable {

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  /**
   * A live owner.
   *
   * @param groups attention groups of its publisher, a bit each, one at least
   */
  record LiveOwner(int id, OwnerRow row, PublisherRow publisher, TableId table, long groups) {

    OwnerIdentity identity() {
      return new OwnerIdentity(
          table,
          publisher.publisher(),
          row.rank(),
          row.medium(),
          row.backendId(),
          row.pool(),
          row.incarnation().generation(),
          row.incarnation().life(),
          row.expiresAtMs());
    }

    Owner owner() {
      return new Owner(
          publisher.publisher().tenantId(),
          publisher.publisher().instanceId(),
          publisher.publisher().dpRank(),
          row.rank(),
          row.medium(),
          row.pool(),
          row.backendId(),
          row.incarnation());
    }

    /** The group a number of this owner's is of, negative = of none. */
    int group(StoredHolders numbers, long number) {
      int group = numbers.groupOf(number);
      return group == StoredHolders.ONLY ? Long.numberOfTrailingZeros(groups) : group;
    }
  }

  final StoredHolders numbers;
  final Map<Integer, LiveOwner> owners = new HashMap<>();
  final List<Orphan> orphans = new ArrayList<>();
  int streams;
  int held;

  /** Sum of what all streams' positions come to. */
  long positions;

  private final Map<Integer, TableId> tables = new HashMap<>();
  private final Map<Integer, PublisherRow> publishers = new HashMap<>();
  private final Map<Integer, OwnerRow> rows = new HashMap<>();

  StoredTable(StoredRows from) throws RocksDBException {
    numbers = new StoredHolders(from.header().state());
    from.dictionary(this::take);
    rows.forEach(
        (id, row) -> {
          PublisherRow publisher = publishers.get(row.publisherRef());
          TableId table = tables.get(row.tableRef());
          if (!row.dead() && publisher != null && table != null) {
            long groups = publisher.groups() == 0 ? 1 : publisher.groups();
            owners.put(id, new LiveOwner(id, row, publisher, table, groups));
          }
        });
  }

  private void take(byte[] key, byte[] value) {
    int id = RowKeys.id(key);
    switch (key[0]) {
      case RowKind.TABLE -> tables.put(id, TableRow.decode(value).table());
      case RowKind.PUBLISHER -> publishers.put(id, PublisherRow.decode(value));
      case RowKind.OWNER -> rows.put(id, OwnerRow.decode(value));
      case RowKind.STREAM -> {
        streams++;
        positions += hash(StreamRow.decode(value));
      }
      case RowKind.HELD -> held++;
      case RowKind.ORPHAN -> orphans.add(Orphan.decode(key, value));
      default -> {} // names of contexts and adapters
    }
  }

  private static long hash(StreamRow stream) {
    return HASH.hashChars(
        stream.stream().key()
            + ' '
            + stream.incarnation().generation()
            + ' '
            + stream.incarnation().life()
            + ' '
            + stream.last()
            + ' '
            + stream.lacks());
  }

  /** The owner with that {@link OwnerIdentity#id}, null = there is none. */
  @Nullable LiveOwner owner(String identity) {
    for (LiveOwner owner : owners.values()) {
      if (owner.identity().id().equals(identity)) {
        return owner;
      }
    }
    return null;
  }
}
