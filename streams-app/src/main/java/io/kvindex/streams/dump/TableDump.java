// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.model.Media;
import io.kvindex.model.TableId;
import io.kvindex.streams.checkpoint.StoredName;
import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.dump.StoredTable.LiveOwner;
import io.kvindex.streams.index.StoredHolders;
import io.kvindex.streams.row.Orphan;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.DumpVisitor.LeftOut;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import org.rocksdb.RocksDBException;

/**
 * Tells what a table holds, owner by owner, the device tier first. Pools and blocks that expire are
 * not in it. Memory is bounded: as many owners are read in one pass as fit together, and one with
 * more blocks than fit is read several times, the first blocks of prompts first ({@link
 * BlockChunk}).
 */
public final class TableDump {

  private final StoredRows rows;
  private final int capacity;
  private final LongPredicate wanted;
  private final DumpVisitor visitor;
  private final StoredTable table;

  /**
   * @param capacity blocks held in memory at most
   * @param wanted contexts to tell, by their hash
   */
  public TableDump(StoredRows rows, int capacity, LongPredicate wanted, DumpVisitor visitor)
      throws RocksDBException {
    this.rows = rows;
    this.capacity = capacity;
    this.wanted = wanted;
    this.visitor = visitor;
    table = new StoredTable(rows);
  }

  /** Tells all runs of a table. */
  public void run(TableId of) throws IOException, RocksDBException {
    List<LiveOwner> owners = owners(of);
    Map<Integer, Long> blocks = count(owners);
    List<LiveOwner> together = new ArrayList<>();
    long sum = 0;
    for (LiveOwner owner : owners) {
      long own = blocks.getOrDefault(owner.id(), 0L);
      if (!together.isEmpty() && sum + own > capacity) {
        tell(together);
        together.clear();
        sum = 0;
      }
      together.add(owner);
      sum += own;
    }
    tell(together);
  }

  /** Live owners, device tier first: lower tiers go on where it ends. */
  private List<LiveOwner> owners(TableId of) {
    Media media = Media.standard();
    return table.owners.values().stream()
        .filter(
            owner ->
                owner.table().equals(of)
                    && !owner.row().pool()
                    && owner.row().expiresAtMs() == OwnerRow.NEVER)
        .sorted(
            Comparator.comparing((LiveOwner owner) -> media.tier(owner.row().medium()))
                .thenComparing(LiveOwner::id))
        .toList();
  }

  /** How many blocks each has; those that are not told are told so. */
  private Map<Integer, Long> count(List<LiveOwner> owners) throws IOException, RocksDBException {
    Map<Integer, Long> blocks = new HashMap<>();
    long[] incomplete = new long[1];
    owners.forEach(owner -> blocks.put(owner.id(), 0L));
    rows.names(
        name ->
            each(
                name,
                (owner, whole) -> {
                  if (whole) {
                    blocks.computeIfPresent(owner.id(), (id, count) -> count + 1);
                  } else if (blocks.containsKey(owner.id())) {
                    incomplete[0]++;
                  }
                }));
    for (; incomplete[0] > 0; incomplete[0]--) {
      visitor.leftOut(LeftOut.INCOMPLETE);
    }
    for (Orphan orphan : table.orphans) {
      if (blocks.containsKey(orphan.ownerId())) {
        visitor.leftOut(LeftOut.ORPHAN);
      }
    }
    return blocks;
  }

  private interface Taker {
    /**
     * @param whole whether all groups hold it
     */
    void take(LiveOwner owner, boolean whole);
  }

  /** Each live owner that holds a name, once. */
  private void each(StoredName name, Taker taker) {
    Map<LiveOwner, Long> several = new HashMap<>();
    for (int i = 0; i < name.holders(); i++) {
      long number = name.holder(i);
      LiveOwner owner = table.owners.get(StoredHolders.idOf(number));
      int group = owner == null ? StoredHolders.NOTHING : owner.group(table.numbers, number);
      if (owner != null && group >= 0) {
        if (Long.bitCount(owner.groups()) == 1) {
          taker.take(owner, true);
        } else {
          several.merge(owner, 1L << group, (one, other) -> one | other);
        }
      }
    }
    several.forEach((owner, groups) -> taker.take(owner, (owner.groups() & ~groups) == 0));
  }

  private void tell(List<LiveOwner> together) throws IOException, RocksDBException {
    Map<Integer, BlockChunk> chunks = new HashMap<>();
    together.forEach(owner -> chunks.put(owner.id(), new BlockChunk(capacity)));
    boolean more = true;
    while (more) {
      try {
        rows.names(name -> add(name, chunks));
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
      more = false;
      for (LiveOwner owner : together) {
        BlockChunk chunk = chunks.get(owner.id());
        if (chunk != null) {
          chunk.tell(owner.owner(), visitor);
          more |= chunk.goOn();
        }
      }
    }
  }

  private void add(StoredName name, Map<Integer, BlockChunk> chunks) {
    if (!wanted.test(name.context())) {
      return;
    }
    each(
        name,
        (owner, whole) -> {
          BlockChunk chunk = chunks.get(owner.id());
          if (chunk != null && whole) {
            chunk.add(name);
            if (chunk.isFull() && !chunk.shrink()) {
              try {
                chunk.tell(owner.owner(), visitor);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            }
          }
        });
  }
}
