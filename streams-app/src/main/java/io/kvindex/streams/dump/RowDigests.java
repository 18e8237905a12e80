// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import net.openhft.hashing.LongHashFunction;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Sums up what each live owner of a partition holds, from its rows alone, so that it is the same on
 * a standby and in a rebuild: numbers of owners, spaces and tables, which depend on who came first,
 * are not in it. For one thread, while another writes the rows.
 *
 * <p>All residency rows are read by one iterator, which sees them as they were when it was opened;
 * that no record came between it and the rows about owners and streams is looked for, and tried
 * again. It pins files of RocksDB for as long as it reads, some seconds for ten million blocks.
 */
public final class RowDigests {

  /** A record a millisecond leaves room for one look nearly every time. */
  private static final int LOOKS = 50;

  private static final int ROWS_BETWEEN_CHECKS = 4_096;

  /** Spreads the number of undecided copies, which is mostly 0, over a word. */
  private static final long UNDECIDED = 0x9E3779B97F4A7C15L;

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
  private final BooleanSupplier closed;

  /**
   * @param closed whether the rows must not be touched any more
   */
  public RowDigests(ReadOnlyKeyValueStore<Bytes, byte[]> rows, BooleanSupplier closed) {
    this.rows = rows;
    this.closed = closed;
  }

  /** All but the residency rows; equal twice = nothing was applied in between. */
  private record Heads(
      Map<Integer, OwnerIdentity> owners, long offset, int streams, int held, long positions) {}

  /** Sums of one owner while its rows are read. */
  private static final class Sums {
    private long blocks;
    private long waiting;
    private long sum;
  }

  /**
   * Sums up the partition.
   *
   * @param wanted which owners to tell; all rows are read whatever it says
   */
  public PartitionDigest of(Predicate<OwnerIdentity> wanted) throws DumpFailedException {
    try {
      for (int look = 1; ; look++) {
        Heads before = heads();
        try (KeyValueIterator<Bytes, byte[]> blocks =
            rows.range(RowKeys.first(RowKind.BLOCK), RowKeys.first(RowKind.BLOCK + 1))) {
          boolean settled = before.equals(heads());
          if (settled || look == LOOKS) {
            return digest(before, settled, sums(before, blocks, wanted));
          }
        }
      }
    } catch (InvalidStateStoreException e) {
      throw new DumpFailedException("the partition can not be read any more", e);
    }
  }

  private Heads heads() {
    Map<Integer, TableRow> tables = new HashMap<>();
    each(RowKind.TABLE, row -> tables.put(id(row), TableRow.decode(row.value)));
    Map<Integer, PublisherRow> publishers = new HashMap<>();
    each(RowKind.PUBLISHER, row -> publishers.put(id(row), PublisherRow.decode(row.value)));
    Map<Integer, OwnerIdentity> owners = new HashMap<>();
    each(
        RowKind.OWNER,
        row -> {
          OwnerRow owner = OwnerRow.decode(row.value);
          TableRow table = tables.get(owner.tableRef());
          PublisherRow publisher = publishers.get(owner.publisherRef());
          if (!owner.dead() && table != null && publisher != null) {
            owners.put(id(row), identity(owner, table, publisher));
          }
        });
    long[] figures = new long[3];
    figures[0] = -1;
    each(
        RowKind.STREAM,
        row -> {
          StreamRow stream = StreamRow.decode(row.value);
          figures[0] = Math.max(figures[0], stream.sourceOffset());
          figures[1]++;
          figures[2] += hash(stream);
        });
    int[] held = new int[1];
    each(RowKind.HELD, row -> held[0]++);
    return new Heads(owners, figures[0], (int) figures[1], held[0], figures[2]);
  }

  private interface RowSink {
    void row(KeyValue<Bytes, byte[]> row);
  }

  private void each(byte kind, RowSink sink) {
    RowScan scan = new RowScan(rows, closed, RowKeys.first(kind), RowKeys.first(kind + 1));
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      sink.row(row);
    }
  }

  private static int id(KeyValue<Bytes, byte[]> row) {
    return RowKeys.id(row.key.get());
  }

  private static OwnerIdentity identity(OwnerRow owner, TableRow table, PublisherRow publisher) {
    return new OwnerIdentity(
        table.table(),
        publisher.publisher(),
        owner.rank(),
        owner.medium(),
        owner.backendId(),
        owner.pool(),
        owner.incarnation().generation(),
        owner.incarnation().life(),
        owner.expiresAtMs());
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

  private Map<Integer, Sums> sums(
      Heads heads, KeyValueIterator<Bytes, byte[]> blocks, Predicate<OwnerIdentity> wanted) {
    Map<Integer, Sums> sums = new HashMap<>();
    heads
        .owners()
        .forEach(
            (id, owner) -> {
              if (wanted.test(owner)) {
                sums.put(id, new Sums());
              }
            });
    long[] words = new long[3];
    int last = 0; // ids begin at 1
    long lastHash = 0;
    @Nullable Sums of = null;
    for (int read = 1; blocks.hasNext(); read++) {
      if (read % ROWS_BETWEEN_CHECKS == 0) {
        RowScan.requireOpen(closed);
      }
      KeyValue<Bytes, byte[]> row = blocks.next();
      int id = id(row);
      long engineHash = RowKeys.hash(row.key.get());
      boolean first = id != last || engineHash != lastHash;
      of = id == last ? of : sums.get(id);
      last = id;
      lastHash = engineHash;
      if (of != null) {
        BlockRow block = BlockRow.decode(row.value);
        of.sum += hash(engineHash, RowKeys.blockGroup(row.key.get()), block, words);
        of.blocks += first && block.isResident() ? 1 : 0;
        of.waiting += first && !block.resolved() ? 1 : 0;
      }
    }
    return sums;
  }

  private static long hash(long engineHash, int group, BlockRow block, long[] words) {
    words[0] = engineHash;
    words[1] = block.lookupKey() + block.undecided() * UNDECIDED;
    words[2] =
        (long) block.copies() << Integer.SIZE | (long) group << 1 | (block.resolved() ? 1 : 0);
    return HASH.hashLongs(words);
  }

  private static PartitionDigest digest(Heads heads, boolean settled, Map<Integer, Sums> sums) {
    List<OwnerDigest> owners = new ArrayList<>();
    heads
        .owners()
        .forEach(
            (id, owner) -> {
              Sums of = sums.get(id);
              // Whether an owner without blocks is there depends on what was read of the log.
              if (of != null && of.blocks + of.waiting > 0) {
                owners.add(new OwnerDigest(owner, of.blocks, of.waiting, of.sum));
              }
            });
    return new PartitionDigest(
        heads.offset(), heads.streams(), heads.held(), heads.positions(), settled, owners);
  }

  /**
   * Lists what a live owner holds, in the order of engine hashes as unsigned numbers; rows of one
   * block are never apart.
   *
   * @param ownerId see {@link OwnerIdentity#id}
   * @param from the first engine hash
   * @param most rows, a few more where the last block has several
   * @return null if there is no such owner
   */
  public @Nullable List<HeldBlock> blocks(String ownerId, long from, int most)
      throws DumpFailedException {
    try {
      for (Map.Entry<Integer, OwnerIdentity> owner : heads().owners().entrySet()) {
        if (owner.getValue().id().equals(ownerId)) {
          return blocks(owner.getKey(), from, most);
        }
      }
      return null;
    } catch (InvalidStateStoreException e) {
      throw new DumpFailedException("the partition can not be read any more", e);
    }
  }

  private List<HeldBlock> blocks(int owner, long from, int most) {
    RowScan scan =
        new RowScan(
            rows,
            closed,
            RowKeys.ofHash(RowKind.BLOCK, owner, from),
            RowKeys.ofId(RowKind.BLOCK, owner + 1));
    List<HeldBlock> found = new ArrayList<>();
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      long hash = RowKeys.hash(row.key.get());
      if (found.size() >= most && found.get(found.size() - 1).engineHash() != hash) {
        return found;
      }
      BlockRow block = BlockRow.decode(row.value);
      found.add(
          new HeldBlock(
              hash,
              RowKeys.blockGroup(row.key.get()),
              (int) Math.min(Integer.MAX_VALUE, (long) block.copies() + block.undecided()),
              block.resolved(),
              block.lookupKey()));
    }
    return found;
  }
}
