// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An immutable list of 64-bit hashes that compares by value. Its bytes are those of the record it
 * is written to or was read from, where they lie, so that reading a record copies no hash: who
 * hands bytes in must not change them any more.
 */
public final class Hashes {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** No hash. */
  public static final Hashes EMPTY = new Hashes(new byte[0], 0, 0);

  private final byte[] bytes;
  private final int from;
  private final int size;

  private Hashes(byte[] bytes, int from, int size) {
    this.bytes = bytes;
    this.from = from;
    this.size = size;
  }

  /** These hashes, copied. */
  public static Hashes of(long... values) {
    byte[] bytes = new byte[values.length * Long.BYTES];
    for (int i = 0; i < values.length; i++) {
      LONG.set(bytes, i * Long.BYTES, values[i]);
    }
    return in(bytes, 0, values.length);
  }

  /** The {@code size} hashes of eight bytes each, big-endian, that begin at {@code from}. */
  static Hashes in(byte[] bytes, int from, int size) {
    return size == 0 ? EMPTY : new Hashes(bytes, from, size);
  }

  /** How many. */
  public int size() {
    return size;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return size == 0;
  }

  /**
   * The hash at {@code index}, as raw bits.
   *
   * @throws IndexOutOfBoundsException if out of range
   */
  public long get(int index) {
    if (index < 0 || index >= size) {
      throw new IndexOutOfBoundsException(index + " of " + size);
    }
    return (long) LONG.get(bytes, from + index * Long.BYTES);
  }

  /** The hashes {@code first} (inclusive) to {@code end} (exclusive). */
  public Hashes slice(int first, int end) {
    if (first < 0 || first > end || end > size) {
      throw new IndexOutOfBoundsException(first + " to " + end + " of " + size);
    }
    return in(bytes, from + first * Long.BYTES, end - first);
  }

  /** A copy as an array. */
  public long[] toArray() {
    long[] values = new long[size];
    for (int i = 0; i < size; i++) {
      values[i] = get(i);
    }
    return values;
  }

  /** Puts them into {@code target}, big-endian, from {@code at} on. */
  void copyTo(byte[] target, int at) {
    System.arraycopy(bytes, from, target, at, size * Long.BYTES);
  }

  private int end() {
    return from + size * Long.BYTES;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Hashes hashes
        && Arrays.equals(bytes, from, end(), hashes.bytes, hashes.from, hashes.end());
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = 0; i < size; i++) {
      hash = 31 * hash + Long.hashCode(get(i));
    }
    return hash;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < size; i++) {
      text.append(text.length() > 1 ? " " : "").append(Long.toHexString(get(i)));
    }
    return text.append(']').toString();
  }
}
