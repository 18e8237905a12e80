// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.util.Arrays;

/**
 * Changes of rows in the bytes of RocksDB's write batches, made here since a call into native code
 * for each row takes longer than all the rest. Format: 8 bytes of zero, the count in 4 bytes,
 * little-endian; for each row 1 = put or 0 = delete, the key with its length before it, the value
 * likewise (write_batch.cc, RocksDB 10.1). For one thread.
 */
final class RowBatch {

  private static final int HEADER = 12;
  private static final int COUNT_AT = 8;
  private static final byte DELETE = 0;
  private static final byte PUT = 1;
  private static final int LONGEST_VARINT = 5;

  private byte[] bytes;
  private int size = HEADER;
  private int count;

  /**
   * @param capacity bytes to begin with
   */
  RowBatch(int capacity) {
    bytes = new byte[capacity + HEADER];
  }

  void put(byte[] key, int keyLength, byte[] value, int valueLength) {
    ensure(1 + keyLength + valueLength + 2 * LONGEST_VARINT);
    bytes[size++] = PUT;
    append(key, keyLength);
    append(value, valueLength);
    count++;
  }

  void delete(byte[] key, int keyLength) {
    ensure(1 + keyLength + LONGEST_VARINT);
    bytes[size++] = DELETE;
    append(key, keyLength);
    count++;
  }

  private void append(byte[] from, int length) {
    int rest = length;
    while ((rest & ~0x7F) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
    System.arraycopy(from, 0, bytes, size, length);
    size += length;
  }

  private void ensure(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
    }
  }

  int size() {
    return size;
  }

  /** The batch; this one starts over. */
  byte[] take() {
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[COUNT_AT + i] = (byte) (count >>> Byte.SIZE * i);
    }
    byte[] batch = Arrays.copyOf(bytes, size);
    size = HEADER;
    count = 0;
    return batch;
  }
}
