// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A growing byte buffer with the few primitives our records and rows are made of. For one thread.
 */
public final class RecordWriter {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int MAX_VARINT = 10;

  private byte[] bytes;
  private int size;

  /**
   * @param capacity bytes to start with
   */
  public RecordWriter(int capacity) {
    bytes = new byte[capacity];
  }

  /** Low 8 bits. */
  public void writeByte(int value) {
    ensure(1);
    bytes[size++] = (byte) value;
  }

  /** Eight bytes, big-endian: keys sort by it unsigned. */
  public void writeLong(long value) {
    ensure(Long.BYTES);
    LONG.set(bytes, size, value);
    size += Long.BYTES;
  }

  /** Unsigned LEB128, 1 to 10 bytes. */
  public void writeVarint(long value) {
    ensure(MAX_VARINT);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  /** Signed: small absolute values stay short. */
  public void writeZigZag(long value) {
    writeVarint((value << 1) ^ (value >> 63));
  }

  /** Varint of length + 1 and UTF-8; null is one zero byte. */
  public void writeString(@Nullable String text) {
    if (text == null) {
      writeByte(0);
      return;
    }
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    writeVarint(utf8.length + 1L);
    writeBytes(utf8);
  }

  /** Raw bytes without a length. */
  public void writeBytes(byte[] raw) {
    ensure(raw.length);
    System.arraycopy(raw, 0, bytes, size, raw.length);
    size += raw.length;
  }

  /** Varint count, then eight bytes each. */
  public void writeHashes(Hashes hashes) {
    writeVarint(hashes.size());
    int length = hashes.size() * Long.BYTES;
    ensure(length);
    hashes.copyTo(bytes, size);
    size += length;
  }

  /** Bytes written so far. */
  public int size() {
    return size;
  }

  /** A copy of what was written. */
  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  private void ensure(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
    }
  }
}
