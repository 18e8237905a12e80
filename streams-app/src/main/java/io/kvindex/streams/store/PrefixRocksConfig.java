// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * RocksDB settings of all stores of a process: one block cache and one bound on memtables for all
 * of them, so that native memory does not grow with the number of partitions.
 *
 * <p>Memtables are charged to the cache: one as small as the memtables would leave nothing for
 * blocks, hence the ratio.
 */
public final class PrefixRocksConfig implements RocksDBConfigSetter {

  static {
    RocksDB.loadLibrary();
  }

  private static final long MEMTABLE_BYTES = 64L << 20;

  /** Small ones stay near the processor's cache, where most of an insertion's time goes. */
  private static final long MEMTABLE_SIZE = 16L << 20;

  /**
   * Filters keep reads cheap where there are a few more files; each compaction writes all again.
   */
  private static final int FILES_BEFORE_COMPACTION = 8;

  private static final long CACHE_BYTES = 256L << 20;
  private static final long BLOCK_BYTES = 4 << 10;

  /** Most reads are of rows long out of the memtables: a bloom filter saves walking those. */
  private static final double MEMTABLE_BLOOM = 0.05;

  /**
   * Four shards. By default there are 64 of 4 MiB, and a file's filter, its index and what
   * memtables are charged are up to 1 MiB apiece: a few of them in one shard push each other out,
   * and each read then loads a whole filter again.
   */
  private static final int CACHE_SHARD_BITS = 2;

  private static final Cache CACHE = new LRUCache(CACHE_BYTES, CACHE_SHARD_BITS);
  private static final WriteBufferManager MEMTABLES = new WriteBufferManager(MEMTABLE_BYTES, CACHE);

  @Override
  public void setConfig(String storeName, Options options, Map<String, Object> configs) {
    // Streams refuses another table config than the one it made.
    BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(CACHE);
    table.setBlockSize(BLOCK_BYTES);
    table.setCacheIndexAndFilterBlocks(true);
    table.setCacheIndexAndFilterBlocksWithHighPriority(true);
    table.setPinL0FilterAndIndexBlocksInCache(true);
    table.setPinTopLevelIndexAndFilter(true);
    options.setTableFormatConfig(table);
    options.setWriteBufferSize(MEMTABLE_SIZE);
    options.setMemtablePrefixBloomSizeRatio(MEMTABLE_BLOOM);
    options.setMemtableWholeKeyFiltering(true);
    options.setLevel0FileNumCompactionTrigger(FILES_BEFORE_COMPACTION);
    options.setCompressionType(CompressionType.NO_COMPRESSION);
    options.setWriteBufferManager(MEMTABLES);
  }

  @Override
  public void close(String storeName, Options options) {
    // Cache and memtable bound live as long as the process: other stores use them.
  }
}
