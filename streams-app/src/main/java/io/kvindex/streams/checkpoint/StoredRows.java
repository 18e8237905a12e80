// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * All rows of a checkpoint as they were at one moment, whatever is written since. One pass each.
 */
public final class StoredRows {

  private static final long READ_AHEAD_BYTES = 2L << 20;
  private static final int VALUE_BYTES = 4096;

  private final RocksDB db;
  private final ReadOptions snapshot;
  private final Header header;

  StoredRows(RocksDB db, ReadOptions snapshot, Header header) {
    this.db = db;
    this.snapshot = snapshot;
    this.header = header;
  }

  /** What they are of. */
  public Header header() {
    return header;
  }

  /** Hands out the rows of dictionaries, in the order of their keys. */
  public void dictionary(BiConsumer<byte[], byte[]> taker) throws RocksDBException {
    try (Slice end = new Slice(new byte[] {Checkpoint.DICTIONARY + 1});
        ReadOptions bounded = new ReadOptions(snapshot).setIterateUpperBound(end);
        RocksIterator rows = db.newIterator(bounded)) {
      for (rows.seek(new byte[] {Checkpoint.DICTIONARY}); rows.isValid(); rows.next()) {
        byte[] key = rows.key();
        taker.accept(Arrays.copyOfRange(key, 1, key.length), rows.value());
      }
      rows.status();
    }
  }

  /** Hands out all names, in no order that means something; the object is the same each time. */
  public void names(Consumer<StoredName> taker) throws RocksDBException {
    StoredName name = new StoredName();
    ByteBuffer key = ByteBuffer.allocateDirect(NameRow.KEY_LENGTH + 1);
    ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES);
    try (Slice end = new Slice(new byte[] {NameRow.KIND + 1});
        ReadOptions bounded =
            new ReadOptions(snapshot)
                .setReadaheadSize(READ_AHEAD_BYTES)
                .setFillCache(false)
                .setIterateUpperBound(end);
        RocksIterator rows = db.newIterator(bounded)) {
      for (rows.seek(new byte[] {NameRow.KIND}); rows.isValid(); rows.next()) {
        rows.key(key.clear());
        int length = rows.value(value.clear());
        if (length > value.capacity()) {
          value = ByteBuffer.allocateDirect(2 * length);
          rows.value(value);
        }
        NameRow.read(key, value, name);
        taker.accept(name);
      }
      rows.status();
    }
  }
}
