// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Media;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Parent;
import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.index.NameRow;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.DumpVisitor.LeftOut;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import org.rocksdb.RocksDBException;

/**
 * Tells what a table holds, owner by owner, the device tier first. Pools and blocks that expire are
 * not in it. Memory is bounded: all names are read several times where there are too many blocks,
 * the first blocks of prompts first.
 */
public final class TableDump {

  /** Blocks of a run at most, so that who reads it needs little memory too. */
  private static final int LONGEST_RUN = 256;

  private record Block(long hash, long local, long parent, long context, int depth) {

    /** Parents before their children, and the children of one together. */
    static final Comparator<Block> ORDER =
        Comparator.comparingInt(Block::depth)
            .thenComparingLong(Block::parent)
            .thenComparingLong(Block::context);

    /** What a block behind it looks like to {@link #ORDER}. */
    Block child() {
      return new Block(0, 0, hash, context, depth + 1);
    }

    /** Names that are prefix hashes have no depth and maybe no parent. */
    Parent before() {
      return depth == 0 && parent == 0 ? Parent.ROOT : Parent.of(parent);
    }
  }

  /** Blocks of one owner that are read in one pass: those of some depths. */
  private static final class Slice {
    final OwnerState owner;
    final int from;
    int to;
    final List<Block> blocks = new ArrayList<>();

    Slice(OwnerState owner, int from) {
      this.owner = owner;
      this.from = from;
    }
  }

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

  /**
   * Tells all runs of a table.
   *
   * @throws UncheckedIOException what the visitor has thrown
   */
  public void run(TableId of) throws RocksDBException {
    List<OwnerState> owners = owners(of);
    Map<Integer, int[]> depths = count(owners);
    Map<Integer, Slice> together = new LinkedHashMap<>();
    long sum = 0;
    for (OwnerState owner : owners) {
      int[] blocks = depths.getOrDefault(owner.id(), new int[0]);
      for (int depth = 0; depth < blocks.length; depth++) {
        if (sum > 0 && sum + blocks[depth] > capacity) {
          tell(together);
          together.clear();
          sum = 0;
        }
        int from = depth;
        together.computeIfAbsent(owner.id(), id -> new Slice(owner, from)).to = depth + 1;
        sum += blocks[depth];
      }
    }
    tell(together);
  }

  /** Live owners, device tier first: lower tiers go on where it ends. */
  private List<OwnerState> owners(TableId of) {
    Media media = Media.standard();
    return table.live().values().stream()
        .filter(
            owner ->
                table.identity(owner).table().equals(of)
                    && !owner.owner().pool()
                    && owner.expiresAtMs() == OwnerState.NEVER)
        .sorted(
            Comparator.comparing((OwnerState owner) -> media.tier(owner.owner().medium()))
                .thenComparing(OwnerState::id))
        .toList();
  }

  /** How many blocks of each depth each owner has; those that are not told are told so. */
  private Map<Integer, int[]> count(List<OwnerState> owners) throws RocksDBException {
    Map<Integer, int[]> depths = new HashMap<>();
    owners.forEach(owner -> depths.put(owner.id(), new int[1]));
    rows.names(
        name ->
            each(
                name,
                (owner, whole) -> {
                  int[] blocks = depths.get(owner.id());
                  if (blocks != null && whole) {
                    depths.put(owner.id(), counted(blocks, name.depth()));
                  } else if (blocks != null) {
                    visitor.leftOut(LeftOut.INCOMPLETE);
                  }
                }));
    for (Orphan orphan : table.orphans()) {
      if (depths.containsKey(orphan.ownerId())) {
        visitor.leftOut(LeftOut.ORPHAN);
      }
    }
    return depths;
  }

  private static int[] counted(int[] blocks, int depth) {
    int[] counts =
        depth < blocks.length ? blocks : Arrays.copyOf(blocks, Math.max(depth + 1, 2 * depth));
    counts[depth]++;
    return counts;
  }

  private interface Taker {
    /**
     * @param whole whether all groups hold it
     */
    void take(OwnerState owner, boolean whole);
  }

  /** Each live owner that holds a name, once. */
  private void each(NameRow name, Taker taker) {
    Map<OwnerState, Long> several = new HashMap<>();
    table.each(
        name,
        (owner, group, copies) -> {
          if (copies >>> 32 > 0 && Long.bitCount(table.groups(owner)) == 1) {
            taker.take(owner, true);
          } else if (copies >>> 32 > 0) {
            several.merge(owner, 1L << group, (one, other) -> one | other);
          }
        });
    several.forEach((owner, groups) -> taker.take(owner, (table.groups(owner) & ~groups) == 0));
  }

  private void tell(Map<Integer, Slice> together) throws RocksDBException {
    rows.names(
        name -> {
          if (wanted.test(name.context())) {
            each(
                name,
                (owner, whole) -> {
                  Slice slice = together.get(owner.id());
                  if (slice != null && whole) {
                    add(slice, name);
                  }
                });
          }
        });
    together.values().forEach(this::tell);
  }

  private void add(Slice slice, NameRow name) {
    if (slice.from <= name.depth() && name.depth() < slice.to) {
      slice.blocks.add(
          new Block(name.hash(), name.local(), name.parent(), name.context(), name.depth()));
      if (slice.blocks.size() >= capacity) {
        // They are all of one depth, where none is another's parent, so any order will do.
        tell(slice);
      }
    }
  }

  /** Tells all blocks, in runs along one child, and forgets them. */
  private void tell(Slice slice) {
    List<Block> blocks = slice.blocks;
    blocks.sort(Block.ORDER);
    BitSet told = new BitSet();
    long[] hashes = new long[LONGEST_RUN];
    long[] locals = new long[LONGEST_RUN];
    for (int start = 0; start < blocks.size(); start++) {
      int count = 0;
      int at = start;
      while (at >= 0 && count < LONGEST_RUN && !told.get(at)) {
        Block block = blocks.get(at);
        told.set(at);
        hashes[count] = block.hash();
        locals[count++] = block.local();
        at = Collections.binarySearch(blocks, block.child(), Block.ORDER);
      }
      if (count > 0) {
        Block first = blocks.get(start);
        try {
          visitor.run(slice.owner.owner(), first.context(), first.before(), hashes, locals, count);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
    blocks.clear();
  }
}
