// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.EnvOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileWriter;

/**
 * Changes of rows in a file of RocksDB's, which takes it over as a whole. Rows come in the order of
 * their keys, each once. For one thread.
 */
final class RowFile implements AutoCloseable {

  private static final int KEY_BYTES = 256;
  private static final int VALUE_BYTES = 4096;

  private final EnvOptions env;
  private final SstFileWriter writer;
  private ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES);
  private ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES);

  /**
   * @param file if it is there, another one takes its name: it may be one that RocksDB has taken
   *     over by now, of a process that was killed before the name was gone
   * @throws RocksDBException if the disk does not do it
   */
  RowFile(Options options, String file) throws RocksDBException {
    try {
      Files.deleteIfExists(Path.of(file));
    } catch (IOException e) {
      throw new RocksDBException("IO error: " + e);
    }
    env = new EnvOptions();
    writer = new SstFileWriter(env, options);
    try {
      writer.open(file);
    } catch (RocksDBException e) {
      close();
      throw e;
    }
  }

  void put(byte[] newKey, int keyLength, byte[] newValue, int valueLength) throws RocksDBException {
    key = filled(key, newKey, keyLength);
    value = filled(value, newValue, valueLength);
    writer.put(key, value);
  }

  private static ByteBuffer filled(ByteBuffer buffer, byte[] from, int length) {
    ByteBuffer large =
        length <= buffer.capacity() ? buffer.clear() : ByteBuffer.allocateDirect(2 * length);
    return large.put(from, 0, length).flip();
  }

  void delete(byte[] gone) throws RocksDBException {
    writer.delete(gone);
  }

  /** It is whole, and on the disk. */
  void finish() throws RocksDBException {
    writer.finish();
  }

  @Override
  public void close() {
    writer.close();
    env.close();
  }
}
