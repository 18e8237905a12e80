// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.checkpoint.Folded;
import io.kvindex.streams.checkpoint.StoredRows;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
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

  private Digests() {}

  /** Sums of one owner while rows are read. */
  private static final class Sums {
    final OwnerIdentity owner;
    private final long[] words = new long[3];
    long blocks;
    long waiting;
    long sum;

    Sums(OwnerIdentity owner) {
      this.owner = owner;
    }

    void add(long hash, int group, long copies, boolean resolved, long key) {
      words[0] = hash;
      words[1] = key + (copies & 0xFFFFFFFFL) * UNDECIDED;
      words[2] = copies >>> 32 << Integer.SIZE | (long) group << 1 | (resolved ? 1 : 0);
      sum += HASH.hashLongs(words);
    }
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
    table
        .live()
        .forEach(
            (id, owner) -> {
              OwnerIdentity identity = table.identity(owner);
              if (wanted.test(identity)) {
                sums.put(id, new Sums(identity));
              }
            });
    int[] last = {-1};
    rows.names(
        name -> {
          last[0] = -1;
          table.each(
              name,
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
    for (Orphan orphan : table.orphans()) {
      Sums of = sums.get(orphan.ownerId());
      if (of != null) {
        of.add(orphan.hash(), orphan.group(), copies(orphan), false, 0);
        of.waiting++;
      }
    }
    List<OwnerDigest> owners = new ArrayList<>();
    for (Sums of : sums.values()) {
      // Whether an owner without blocks is there depends on what was read of the log.
      if (of.blocks + of.waiting > 0) {
        owners.add(new OwnerDigest(of.owner, of.blocks, of.waiting, of.sum));
      }
    }
    Folded folded = rows.header().folded();
    return new PartitionDigest(
        folded.lineageStart(),
        folded.offset(),
        table.streams().all().size(),
        table.streams().heldRecords(),
        table.positions(),
        owners);
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
    Optional<OwnerState> found =
        table.live().values().stream()
            .filter(owner -> table.identity(owner).id().equals(ownerId))
            .findFirst();
    if (found.isEmpty()) {
      return null;
    }
    OwnerState wanted = found.get();
    Smallest blocks = new Smallest(from, most);
    rows.names(
        name ->
            table.each(
                name,
                (owner, group, copies) -> {
                  if (owner == wanted) {
                    blocks.add(
                        new HeldBlock(name.hash(), group, announced(copies), true, name.key()));
                  }
                }));
    for (Orphan orphan : table.orphans()) {
      if (orphan.ownerId() == wanted.id()) {
        int copies = announced(copies(orphan));
        blocks.add(new HeldBlock(orphan.hash(), orphan.group(), copies, false, 0));
      }
    }
    return blocks.inOrder();
  }

  private static long copies(Orphan orphan) {
    return (long) orphan.copies() << 32 | orphan.undecided();
  }

  private static int announced(long copies) {
    return (int) Math.min(Integer.MAX_VALUE, (copies >>> 32) + (copies & 0xFFFFFFFFL));
  }

  /** The blocks with the smallest hashes of those that come by; those of one stay together. */
  private static final class Smallest {

    private final long from;
    private final int most;
    private final TreeMap<Long, List<HeldBlock>> byHash = new TreeMap<>(Long::compareUnsigned);
    private int size;

    Smallest(long from, int most) {
      this.from = from;
      this.most = most;
    }

    void add(HeldBlock block) {
      if (Long.compareUnsigned(block.engineHash(), from) < 0
          || size >= most && Long.compareUnsigned(block.engineHash(), byHash.lastKey()) > 0) {
        return;
      }
      byHash.computeIfAbsent(block.engineHash(), hash -> new ArrayList<>(1)).add(block);
      size++;
      int last = byHash.lastEntry().getValue().size();
      if (size - last >= most) {
        byHash.pollLastEntry();
        size -= last;
      }
    }

    List<HeldBlock> inOrder() {
      return byHash.values().stream()
          .flatMap(blocks -> blocks.stream().sorted(Comparator.comparingInt(HeldBlock::group)))
          .toList();
    }
  }
}
