// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.util.Arrays;

/**
 * An immutable list of 64-bit hashes that compares by value. Wraps an array without copying: who
 * hands one in must not change it any more.
 */
public final class Hashes {

  /** No hash. */
  public static final Hashes EMPTY = new Hashes(new long[0]);

  private final long[] values;

  private Hashes(long[] values) {
    this.values = values;
  }

  /** Takes the array over; the caller gives up writing to it. */
  public static Hashes wrap(long... values) {
    return values.length == 0 ? EMPTY : new Hashes(values);
  }

  /** How many. */
  public int size() {
    return values.length;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return values.length == 0;
  }

  /**
   * The hash at {@code index}, as raw bits.
   *
   * @throws ArrayIndexOutOfBoundsException if out of range
   */
  public long get(int index) {
    return values[index];
  }

  /** The hashes {@code from} (inclusive) to {@code to} (exclusive), copied. */
  public Hashes slice(int from, int to) {
    return wrap(Arrays.copyOfRange(values, from, to));
  }

  /** A copy as an array. */
  public long[] toArray() {
    return values.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Hashes hashes && Arrays.equals(values, hashes.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (long value : values) {
      text.append(text.length() > 1 ? " " : "").append(Long.toHexString(value));
    }
    return text.append(']').toString();
  }
}
