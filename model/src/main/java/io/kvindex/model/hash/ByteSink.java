// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A reused, growing byte buffer. Not thread-safe. */
final class ByteSink {

  private static final VarHandle INT_LE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_LE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_BE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private byte[] bytes = new byte[512];
  private int length;

  void clear() {
    length = 0;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Makes room, so that what follows can be written without a check per byte. */
  void reserve(long more) {
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.max(2L * bytes.length, length + more)));
    }
  }

  void put(int b) {
    reserve(1);
    bytes[length++] = (byte) b;
  }

  void put(byte[] source, int count) {
    reserve(count);
    System.arraycopy(source, 0, bytes, length, count);
    length += count;
  }

  void putIntLe(int value) {
    reserve(Integer.BYTES);
    INT_LE.set(bytes, length, value);
    length += Integer.BYTES;
  }

  /** Overwrites eight bytes. */
  void setLongLe(int at, long value) {
    LONG_LE.set(bytes, at, value);
  }

  /** Takes bytes out; what is behind them moves up. */
  void remove(int at, int count) {
    System.arraycopy(bytes, at + count, bytes, at, length - at - count);
    length -= count;
  }

  static long longBe(byte[] source, int at) {
    return (long) LONG_BE.get(source, at);
  }
}
