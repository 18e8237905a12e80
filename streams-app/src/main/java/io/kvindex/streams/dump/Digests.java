// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.streams.checkpoint.Folded;
import io.kvindex.streams.checkpoint.StoredName;
import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.dump.StoredTable.LiveOwner;
import io.kvindex.streams.index.StoredHolders;
import io.kvindex.streams.row.Orphan;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Sums up, or lists, what each live owner of a partition holds, in one pass through its rows. The
 * same for all folds of one log: numbers of owners, spaces and tables, which depend on who came
 * first, are not in it.
 */
public final class Digests {

  /** Spreads the number of undecided copies, which is mostly 0, over a word. */
  private static final long UNDECIDED = 0x9E3779B97F4A7C15L;

  private static final LongHashFunction HASH = LongHashFunction.xx3();
  private static final long ONE = 1L << Integer.SIZE;

  private Digests() {}

  /** Sums of one owner while rows are read. */
  private static final class Sums {
    final LiveOwner owner;
    private final long[] words = new long[3];
    long blocks;
    long waiting;
    long sum;

    Sums(LiveOwner owner) {
      this.owner = owner;
    }

    void add(long hash, int group, long copies, boolean resolved, long key) {
      words[0] = hash;
      words[1] = key + (copies & 0xFFFFFFFFL) * UNDECIDED;
      words[2] = copies >>> 32 << Integer.SIZE | (long) group << 1 | (resolved ? 1 : 0);
      sum += HASH.hashLongs(words);
    }
  }

  /** Takes what one owner holds of a name in one group. */
  private interface Taker {
    void take(LiveOwner owner, int group, long copies);
  }

  /**
   * Sums up the partition.
   *
   * @param wanted which owners to tell; all rows are read whatever it says
   */
  public static PartitionDigest of(StoredRows rows, Predicate<OwnerIdentity> wanted)
      throws RocksDBException {
    StoredTable table = new StoredTable(rows);
    Map<Integer, Sums> sums = new HashMap<>();
    table.owners.forEach(
        (id, owner) -> {
          if (wanted.test(owner.identity())) {
            sums.put(id, new Sums(owner));
          }
        });
    int[] last = {-1};
    rows.names(
        name -> {
          last[0] = -1;
          each(
              name,
              table,
              (owner, group, copies) -> {
                Sums of = sums.get(owner.id());
                if (of != null) {
                  of.add(name.hash(), group, copies, true, name.key());
                  // The groups of an owner come one after the other.
                  of.blocks += copies >>> 32 > 0 && last[0] != owner.id() ? 1 : 0;
                  last[0] = copies >>> 32 > 0 ? owner.id() : last[0];
                }
              });
        });
    for (Orphan orphan : table.orphans) {
      Sums of = sums.get(orphan.ownerId());
      if (of != null) {
        long copies = (long) orphan.copies() << 32 | orphan.undecided();
        of.add(orphan.hash(), orphan.group(), copies, false, 0);
        of.waiting++;
      }
    }
    List<OwnerDigest> owners = new ArrayList<>();
    for (Sums of : sums.values()) {
      // Whether an owner without blocks is there depends on what was read of the log.
      if (of.blocks + of.waiting > 0) {
        owners.add(new OwnerDigest(of.owner.identity(), of.blocks, of.waiting, of.sum));
      }
    }
    Folded folded = rows.header().folded();
    return new PartitionDigest(
        folded.lineageStart(), folded.offset(), table.streams, table.held, table.positions, owners);
  }

  private static void each(StoredName name, StoredTable table, Taker taker) {
    for (int i = 0; i < name.holders(); i++) {
      long number = name.holder(i);
      LiveOwner owner = table.owners.get(StoredHolders.idOf(number));
      int group = owner == null ? StoredHolders.NOTHING : owner.group(table.numbers, number);
      if (owner != null && group >= 0) {
        taker.take(owner, group, name.copies(owner.id(), group, ONE));
      }
    }
    for (int i = 0; i < name.counts(); i++) {
      LiveOwner owner = table.owners.get((int) (name.countOf(i) >>> 8));
      if (owner != null && name.countAt(i) >>> 32 == 0) {
        taker.take(owner, (int) name.countOf(i) & 0xFF, name.countAt(i));
      }
    }
  }

  /**
   * Lists what a live owner holds, in the order of engine hashes as unsigned numbers.
   *
   * @param ownerId see {@link OwnerIdentity#id}
   * @param from the first engine hash
   * @param most rows, a few more where the last block has several
   * @return null if there is no such owner
   */
  public static @Nullable List<HeldBlock> blocks(
      StoredRows rows, String ownerId, long from, int most) throws RocksDBException {
    StoredTable table = new StoredTable(rows);
    LiveOwner wanted = table.owner(ownerId);
    if (wanted == null) {
      return null;
    }
    Smallest found = new Smallest(from, most);
    rows.names(
        name ->
            each(
                name,
                table,
                (owner, group, copies) -> {
                  if (owner == wanted) {
                    found.add(
                        new HeldBlock(name.hash(), group, announced(copies), true, name.key()));
                  }
                }));
    for (Orphan orphan : table.orphans) {
      if (orphan.ownerId() == wanted.id()) {
        long copies = (long) orphan.copies() << 32 | orphan.undecided();
        found.add(new HeldBlock(orphan.hash(), orphan.group(), announced(copies), false, 0));
      }
    }
    return found.inOrder();
  }

  private static int announced(long copies) {
    return (int) Math.min(Integer.MAX_VALUE, (copies >>> 32) + (copies & 0xFFFFFFFFL));
  }

  /** The blocks with the smallest hashes of those that come by. */
  private static final class Smallest {

    private static final Comparator<HeldBlock> ORDER =
        Comparator.comparingLong((HeldBlock block) -> block.engineHash() ^ Long.MIN_VALUE)
            .thenComparingInt(HeldBlock::group);

    private final long from;
    private final int most;
    private final PriorityQueue<HeldBlock> largestFirst = new PriorityQueue<>(ORDER.reversed());

    Smallest(long from, int most) {
      this.from = from;
      this.most = most;
    }

    void add(HeldBlock block) {
      HeldBlock largest = largestFirst.peek();
      boolean full = largestFirst.size() >= most && largest != null;
      if (Long.compareUnsigned(block.engineHash(), from) < 0
          || full && Long.compareUnsigned(block.engineHash(), largest.engineHash()) > 0) {
        return;
      }
      largestFirst.add(block);
      dropBeyond();
    }

    /** Rows of one block stay together. */
    private void dropBeyond() {
      while (largestFirst.size() > most) {
        List<HeldBlock> last = new ArrayList<>();
        HeldBlock first = largestFirst.remove();
        last.add(first);
        while (!largestFirst.isEmpty() && largestFirst.peek().engineHash() == first.engineHash()) {
          last.add(largestFirst.remove());
        }
        if (largestFirst.size() < most) {
          largestFirst.addAll(last);
          return;
        }
      }
    }

    List<HeldBlock> inOrder() {
      return largestFirst.stream().sorted(ORDER).toList();
    }
  }
}
