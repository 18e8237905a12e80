// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link RecordWriter} wrote. Every method throws {@link MalformedRecordException} where
 * the bytes end early or can not be; nothing is allocated from a declared length before the bytes
 * are known to be there. For one thread.
 */
public final class RecordReader {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int MAX_SHIFT = 63;

  private final byte[] bytes;
  private int at;

  /** Starts at the first byte. */
  public RecordReader(byte[] bytes) {
    this(bytes, 0);
  }

  /**
   * @param from index to start at
   */
  public RecordReader(byte[] bytes, int from) {
    this.bytes = bytes;
    this.at = from;
  }

  /** One byte, 0..255. */
  public int readByte() {
    require(1);
    return bytes[at++] & 0xFF;
  }

  /** Eight bytes, big-endian. */
  public long readLong() {
    require(Long.BYTES);
    long value = (long) LONG.get(bytes, at);
    at += Long.BYTES;
    return value;
  }

  /** Unsigned LEB128. */
  public long readVarint() {
    long value = 0;
    for (int shift = 0; shift <= MAX_SHIFT; shift += 7) {
      int b = readByte();
      value |= (long) (b & 0x7F) << shift;
      if ((b & 0x80) == 0) {
        return value;
      }
    }
    throw new MalformedRecordException("number of more than 10 bytes at " + at);
  }

  /** A varint that must fit a non-negative int. */
  public int readInt() {
    long value = readVarint();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new MalformedRecordException("number out of range at " + at);
    }
    return (int) value;
  }

  /** Signed, see {@link RecordWriter#writeZigZag}. */
  public long readZigZag() {
    long value = readVarint();
    return (value >>> 1) ^ -(value & 1);
  }

  /** A count of things that take at least one byte each, so it is bounded by what is left. */
  public int readCount() {
    int count = readInt();
    require(count);
    return count;
  }

  /** A string or null. */
  public @Nullable String readString() {
    int length = readInt() - 1;
    if (length < 0) {
      return null;
    }
    require(length);
    String text = new String(bytes, at, length, StandardCharsets.UTF_8);
    at += length;
    return text;
  }

  /** Index of the byte that is read next. */
  int at() {
    return at;
  }

  /** Passes over bytes that are there. */
  void skip(int count) {
    require(count);
    at += count;
  }

  /** A string that must be there. */
  public String readRequiredString() {
    String text = readString();
    if (text == null) {
      throw new MalformedRecordException("missing text at " + at);
    }
    return text;
  }

  /** A hash list; it keeps the bytes that are read from. */
  public Hashes readHashes() {
    int count = readInt();
    require((long) count * Long.BYTES);
    Hashes hashes = Hashes.in(bytes, at, count);
    at += count * Long.BYTES;
    return hashes;
  }

  /** One of {@code values} by its ordinal. */
  public <E> E readEnum(E[] values) {
    int ordinal = readByte();
    if (ordinal >= values.length) {
      throw new MalformedRecordException("unknown code " + ordinal + " at " + at);
    }
    return values[ordinal];
  }

  /** All bytes not read yet. */
  public byte[] readRest() {
    byte[] rest = Arrays.copyOfRange(bytes, at, bytes.length);
    at = bytes.length;
    return rest;
  }

  /** Whether every byte was read. */
  public boolean atEnd() {
    return at == bytes.length;
  }

  /** Fails unless every byte was read. */
  public void requireEnd() {
    if (!atEnd()) {
      throw new MalformedRecordException(bytes.length - at + " bytes too many");
    }
  }

  private void require(long more) {
    if (more > bytes.length - at) {
      throw new MalformedRecordException("cut short at " + bytes.length);
    }
  }
}
