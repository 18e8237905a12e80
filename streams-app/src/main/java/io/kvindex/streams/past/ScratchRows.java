// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.past;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Rows on disk without a task, a changelog or a log of its own: what does not fit a few hundred MiB
 * of memory is in a directory that goes with the process. For one thread.
 */
final class ScratchRows implements KeyValueStore<Bytes, byte[]> {

  static {
    RocksDB.loadLibrary();
  }

  private static final long CACHE_BYTES = 64L << 20;
  private static final long MEMTABLE_BYTES = 16L << 20;
  private static final double BITS_PER_KEY = 10;

  private final LRUCache cache = new LRUCache(CACHE_BYTES);
  private final BloomFilter filter = new BloomFilter(BITS_PER_KEY);
  private final Options options;
  private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
  private final RocksDB db;
  private boolean open = true;

  /**
   * @param directory empty or not there yet
   */
  ScratchRows(Path directory) {
    options =
        new Options()
            .setCreateIfMissing(true)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setWriteBufferSize(MEMTABLE_BYTES)
            .setMemtablePrefixBloomSizeRatio(0.05)
            .setMemtableWholeKeyFiltering(true)
            .setTableFormatConfig(
                new BlockBasedTableConfig().setBlockCache(cache).setFilterPolicy(filter));
    try {
      db = RocksDB.open(options, directory.toString());
    } catch (RocksDBException e) {
      throw new IllegalStateException("no rows can be kept in " + directory, e);
    }
  }

  private interface Work<T> {
    T run() throws RocksDBException;
  }

  private static <T> T with(Work<T> work) {
    try {
      return work.run();
    } catch (RocksDBException e) {
      throw new IllegalStateException("rows can not be read or written", e);
    }
  }

  @Override
  public void put(Bytes key, byte @Nullable [] value) {
    putAll(List.of(KeyValue.pair(key, value)));
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    with(
        () -> {
          try (WriteBatch batch = new WriteBatch()) {
            for (KeyValue<Bytes, byte[]> row : entries) {
              if (row.value == null) {
                batch.delete(row.key.get());
              } else {
                batch.put(row.key.get(), row.value);
              }
            }
            db.write(unlogged, batch);
          }
          return true;
        });
  }

  @Override
  public byte @Nullable [] putIfAbsent(Bytes key, byte[] value) {
    byte[] known = get(key);
    if (known == null) {
      put(key, value);
    }
    return known;
  }

  @Override
  public byte @Nullable [] delete(Bytes key) {
    byte[] known = get(key);
    put(key, null);
    return known;
  }

  @Override
  @SuppressWarnings("NullAway") // as RocksDB has it, null = none
  public byte @Nullable [] get(Bytes key) {
    return with(() -> db.get(key.get()));
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
    RocksIterator rows = db.newIterator();
    rows.seek(from.get());
    return new Rows(rows, to);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    RocksIterator rows = db.newIterator();
    rows.seekToFirst();
    return new Rows(rows, null);
  }

  /** Rows up to an end that is included, as Kafka Streams has it; null = all. */
  private record Rows(RocksIterator rows, @Nullable Bytes to)
      implements KeyValueIterator<Bytes, byte[]> {

    @Override
    public boolean hasNext() {
      return rows.isValid() && (to == null || Arrays.compareUnsigned(rows.key(), to.get()) <= 0);
    }

    @Override
    public KeyValue<Bytes, byte[]> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      KeyValue<Bytes, byte[]> row = KeyValue.pair(Bytes.wrap(rows.key()), rows.value());
      rows.next();
      return row;
    }

    @Override
    public Bytes peekNextKey() {
      return Bytes.wrap(rows.key());
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  @Override
  public long approximateNumEntries() {
    return with(() -> db.getLongProperty("rocksdb.estimate-num-keys"));
  }

  @Override
  public String name() {
    return "scratch";
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    throw new UnsupportedOperationException("no task has it");
  }

  @Override
  public boolean persistent() {
    return false;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      db.close();
      options.close();
      unlogged.close();
      filter.close();
      cache.close();
    }
  }
}
