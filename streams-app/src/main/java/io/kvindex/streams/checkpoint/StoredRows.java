// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.index.NameRow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;
import org.rocksdb.Range;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SizeApproximationFlag;
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

  /** The rows of dictionaries, as they were put into the journal. */
  public SortedMap<Bytes, byte[]> dictionary() throws RocksDBException {
    SortedMap<Bytes, byte[]> all = new TreeMap<>();
    try (Slice end = new Slice(new byte[] {Checkpoint.DICTIONARY + 1});
        ReadOptions bounded = new ReadOptions(snapshot).setIterateUpperBound(end);
        RocksIterator rows = db.newIterator(bounded)) {
      for (rows.seek(new byte[] {Checkpoint.DICTIONARY}); rows.isValid(); rows.next()) {
        byte[] key = rows.key();
        all.put(Bytes.wrap(Arrays.copyOfRange(key, 1, key.length)), rows.value());
      }
      rows.status();
      return all;
    }
  }

  /** Hands out all names, in no order that means something; the object is the same each time. */
  public void names(Consumer<NameRow> taker) throws RocksDBException {
    NameRow name = new NameRow();
    try (Names names = names()) {
      while (names.next(name)) {
        taker.accept(name);
      }
    }
  }

  /** A pass over all names. */
  Names names() {
    return new Names();
  }

  /** Reads one name after the other. */
  final class Names implements AutoCloseable {
    private final Slice end = new Slice(new byte[] {NameRow.KIND + 1});
    private final ReadOptions bounded =
        new ReadOptions(snapshot)
            .setReadaheadSize(READ_AHEAD_BYTES)
            .setFillCache(false)
            .setIterateUpperBound(end);
    private final RocksIterator rows = db.newIterator(bounded);
    private final ByteBuffer key = ByteBuffer.allocateDirect(NameRow.KEY_LENGTH + 1);
    private ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES);

    private Names() {
      rows.seek(new byte[] {NameRow.KIND});
    }

    /** Reads the next one; false = there are no more. */
    boolean next(NameRow into) throws RocksDBException {
      if (!rows.isValid()) {
        rows.status();
        return false;
      }
      rows.key(key.clear());
      int length = rows.value(value.clear());
      if (length > value.capacity()) {
        value = ByteBuffer.allocateDirect(2 * length);
        rows.value(value);
      }
      into.read(key, value);
      rows.next();
      return true;
    }

    @Override
    public void close() {
      rows.close();
      bounded.close();
      end.close();
    }
  }

  /** About how many names there are of each space: by the bytes of their rows. */
  long[] namesOf(int spaces) {
    List<Slice> ends = new ArrayList<>();
    List<Range> ranges = new ArrayList<>();
    for (int space = 0; space <= spaces; space++) {
      ends.add(new Slice(NameRow.firstOf(space)));
    }
    for (int space = 0; space < spaces; space++) {
      ranges.add(new Range(ends.get(space), ends.get(space + 1)));
    }
    long[] names = db.getApproximateSizes(ranges, SizeApproximationFlag.INCLUDE_FILES);
    ends.forEach(Slice::close);
    double bytes = Math.max(1, Arrays.stream(names).sum());
    for (int space = 0; space < spaces; space++) {
      names[space] = (long) (header.names() * (names[space] / bytes));
    }
    return names;
  }
}
