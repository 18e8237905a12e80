// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.common.Uuid;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;

/**
 * A layout as there might have been before the first one: kinds in small letters, values backwards,
 * and a header without the number of checkpoints, its names first.
 */
public final class MadeUpFormer implements Former {

  static final int LAYOUT = Header.LAYOUT - 1;
  private static final int CASE = 0x20;

  private MadeUpFormer() {}

  /** As if this version came after that one. */
  public static void begin() {
    Conversion.former = new MadeUpFormer();
  }

  /** There is no such version. */
  public static void end() {
    Conversion.former = null;
  }

  @Override
  public int layout() {
    return LAYOUT;
  }

  @Override
  public Header header(byte[] row) {
    RecordReader in = new RecordReader(row);
    in.readVarint();
    long names = in.readVarint();
    return new Header(
        new Uuid(in.readLong(), in.readLong()),
        in.readInt(),
        1,
        new Folded(in.readZigZag(), in.readLong(), in.readVarint()),
        names,
        in.readRest());
  }

  @Override
  public void row(byte[] key, byte[] value, WriteBatch to) throws RocksDBException {
    if (key[0] != ('D' | CASE) && key[0] != ('N' | CASE)) {
      throw new MalformedRecordException("a row of kind " + key[0]);
    }
    byte[] now = key.clone();
    now[0] ^= CASE;
    to.put(now, reversed(value));
  }

  private static byte[] reversed(byte[] bytes) {
    byte[] reversed = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      reversed[i] = bytes[bytes.length - 1 - i];
    }
    return reversed;
  }

  /** Writes a checkpoint of this version as that one did, in its place. */
  public static void rewrite(Path directory) throws RocksDBException, IOException {
    Path as = directory.resolveSibling("former");
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB from = RocksDB.openReadOnly(options, directory.toString());
        RocksDB to = RocksDB.open(options, as.toString());
        FlushOptions flush = new FlushOptions();
        RocksIterator rows = from.newIterator()) {
      for (rows.seekToFirst(); rows.isValid(); rows.next()) {
        byte[] key = rows.key();
        if (Arrays.equals(key, Checkpoint.HEADER)) {
          to.put(key, headerRow(Header.decode(rows.value())));
        } else {
          key[0] |= CASE;
          to.put(key, reversed(rows.value()));
        }
      }
      to.flush(flush);
    } catch (CheckpointRefusedException e) {
      throw new IOException(e);
    }
    Replacement.delete(directory);
    Files.move(as, directory);
  }

  private static byte[] headerRow(Header header) {
    RecordWriter out = new RecordWriter(64);
    out.writeVarint(LAYOUT);
    out.writeVarint(header.names());
    out.writeLong(header.topicId().getMostSignificantBits());
    out.writeLong(header.topicId().getLeastSignificantBits());
    out.writeVarint(header.partition());
    out.writeZigZag(header.folded().offset());
    out.writeLong(header.folded().sum());
    out.writeVarint(header.folded().lineageStart());
    out.writeBytes(header.state());
    return out.toByteArray();
  }
}
