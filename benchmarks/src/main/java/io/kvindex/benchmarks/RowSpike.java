// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompactionStyle;
import org.rocksdb.CompressionType;
import org.rocksdb.IndexType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * What do the rows of a stored and of a removed block cost in RocksDB alone, with the reads they
 * need? Fills a database with {@code B} and {@code K} rows, then stores 16 blocks and removes the
 * 16 oldest in turn: per stored block one read that finds nothing, per removed one that finds the
 * row.
 *
 * <p>Arguments: blocks, block cache in MiB (64 MiB of it may be memtables), bytes a RocksDB block,
 * {@code lz4} or {@code none}, operations, {@code KB} or {@code B} for the rows a block has, {@code
 * full} or {@code partitioned} for filters and indexes (partitioned if left out), shards of the
 * cache as a power of two (-1 = RocksDB's choice, which is the default).
 */
public final class RowSpike {

  private static final int RUN = 16;
  private static final int OWNERS = 8;
  private static final double MICRO = 1e3;

  private final RocksDB db;
  private final WriteOptions noLog;
  private final boolean contents;

  private RowSpike(RocksDB db, WriteOptions noLog, boolean contents) {
    this.db = db;
    this.noLog = noLog;
    this.contents = contents;
  }

  /** Runs it. */
  public static void main(String[] arguments) throws RocksDBException, IOException {
    int blocks = Integer.parseInt(arguments[0]);
    int operations = Integer.parseInt(arguments[4]);
    RocksDB.loadLibrary();
    Path directory = Files.createTempDirectory("row-spike");
    try (Cache cache = new LRUCache(Long.parseLong(arguments[1]) << 20, shardBits(arguments));
        WriteBufferManager memtables = new WriteBufferManager(64 << 20, cache);
        Options options = options(arguments, cache, memtables);
        RocksDB db = RocksDB.open(options, directory.toString());
        WriteOptions noLog = new WriteOptions().setDisableWAL(true)) {
      new RowSpike(db, noLog, arguments[5].contains("K"))
          .run(String.join(" ", arguments), blocks, operations);
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  private static int shardBits(String[] arguments) {
    return arguments.length < 8 ? -1 : Integer.parseInt(arguments[7]);
  }

  private static Options options(String[] arguments, Cache cache, WriteBufferManager memtables) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setBlockSize(Long.parseLong(arguments[2]))
            .setFilterPolicy(new BloomFilter(10))
            .setCacheIndexAndFilterBlocks(true)
            .setPinL0FilterAndIndexBlocksInCache(true)
            .setPinTopLevelIndexAndFilter(true);
    if (arguments.length < 7 || arguments[6].equals("partitioned")) {
      table.setPartitionFilters(true).setIndexType(IndexType.kTwoLevelIndexSearch);
    }
    return new Options()
        .setCreateIfMissing(true)
        .setTableFormatConfig(table)
        .setCompressionType(
            "lz4".equals(arguments[3])
                ? CompressionType.LZ4_COMPRESSION
                : CompressionType.NO_COMPRESSION)
        .setCompactionStyle(CompactionStyle.UNIVERSAL)
        .setWriteBufferSize(16 << 20)
        .setMaxWriteBufferNumber(3)
        .setWriteBufferManager(memtables)
        .setMaxBackgroundJobs(2);
  }

  private void run(String title, int blocks, int operations) throws RocksDBException {
    Times fill = new Times();
    for (int i = 0; i < blocks; i += RUN) {
      write(i, true);
    }
    fill.print(title + ": fill", blocks);
    Times all = new Times();
    long absent = 0;
    long present = 0;
    int found = 0;
    for (int i = 0; i < operations / 2; i += RUN) {
      long before = System.nanoTime();
      if (contents) {
        found += read(RowKind.CONTENT, blocks + i);
      }
      long middle = System.nanoTime();
      write(blocks + i, true);
      long later = System.nanoTime();
      found += read(RowKind.BLOCK, i);
      absent += middle - before;
      present += System.nanoTime() - later;
      write(i, false);
    }
    all.print(title + ": store + remove", operations);
    System.out.printf(
        Locale.ROOT,
        "  read of an absent K row %.2f us, of a present B row %.2f us, %d found%n",
        absent * 2 / MICRO / operations,
        present * 2 / MICRO / operations,
        found);
  }

  private int read(byte kind, int from) throws RocksDBException {
    int found = 0;
    for (int i = from; i < from + RUN; i++) {
      byte[] key = kind == RowKind.BLOCK ? block(i) : content(i);
      found += db.get(key) == null ? 0 : 1;
    }
    return found;
  }

  private void write(int from, boolean store) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      for (int i = from; i < from + RUN; i++) {
        if (!store) {
          batch.delete(block(i));
          if (contents) {
            batch.delete(content(i));
          }
          continue;
        }
        batch.put(block(i), new BlockRow(1, 1, true, hash(i + 1)).encode());
        if (contents) {
          batch.put(
              content(i),
              new ContentRow(0, hash(i + 1), hash(i + 2), hash(i - 1), 40, true).encode());
        }
      }
      db.write(noLog, batch);
    }
  }

  private static byte[] block(int i) {
    return RowKeys.block(1 + i / RUN % OWNERS, hash(i), 0).get();
  }

  private static byte[] content(int i) {
    return RowKeys.ofHash(RowKind.CONTENT, 1, hash(i)).get();
  }

  /** Distinct and without order, as engines' hashes are. */
  static long hash(int i) {
    long z = i * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Wall and CPU time since it was made; the CPU of RocksDB's own threads is in it. */
  private static final class Times {
    private final long wall = System.nanoTime();
    private final long cpu = cpu();

    void print(String what, long operations) {
      System.out.printf(
          Locale.ROOT,
          "%s: %.2f us wall, %.2f us CPU each%n",
          what,
          (System.nanoTime() - wall) / MICRO / operations,
          (cpu() - cpu) / MICRO / operations);
    }

    private static long cpu() {
      return ((com.sun.management.OperatingSystemMXBean)
              ManagementFactory.getOperatingSystemMXBean())
          .getProcessCpuTime();
    }
  }
}
