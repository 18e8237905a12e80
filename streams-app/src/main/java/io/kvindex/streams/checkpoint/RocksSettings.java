// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/** How RocksDB keeps rows that are written in large sorted batches and read once, at a start. */
final class RocksSettings {

  static {
    RocksDB.loadLibrary();
  }

  private static final long CACHE_BYTES = 8L << 20;
  private static final int BLOCK_BYTES = 16 << 10;
  private static final int FORMAT = 5;

  /** Each has rows of all the table: half as many would be written over twice as often. */
  private static final int FILES_BEFORE_COMPACTION = 8;

  private static final long LEVEL_BYTES = 256L << 20;
  private static final long FILE_BYTES = 64L << 20;
  private static final long MANIFEST_BYTES = 4L << 20;
  private static final int JOBS = 2;

  /** For all of a process: compactions alone read through it. */
  private static final Cache CACHE = new LRUCache(CACHE_BYTES);

  private RocksSettings() {}

  /** To be closed after the database. */
  static Options options() {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(CACHE)
            .setBlockSize(BLOCK_BYTES)
            .setFormatVersion(FORMAT)
            .setCacheIndexAndFilterBlocks(true);
    return new Options()
        .setCreateIfMissing(true)
        .setTableFormatConfig(table)
        // Nearly all of a row are hashes, which no compression makes smaller.
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setMaxBackgroundJobs(JOBS)
        .setLevel0FileNumCompactionTrigger(FILES_BEFORE_COMPACTION)
        .setLevelCompactionDynamicLevelBytes(true)
        .setMaxBytesForLevelBase(LEVEL_BYTES)
        .setTargetFileSizeBase(FILE_BYTES)
        .setMaxManifestFileSize(MANIFEST_BYTES)
        .setMaxOpenFiles(-1)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setKeepLogFileNum(2)
        // Nothing is done by the clock.
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0);
  }
}
