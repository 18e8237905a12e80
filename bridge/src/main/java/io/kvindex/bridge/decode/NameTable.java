// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds what a name stands for without making a string of it. Immutable after construction; safe
 * for all threads.
 */
final class NameTable<T> {

  private final byte[][] names;
  private final @Nullable Object[] values;
  private final int mask;

  NameTable(Map<String, T> entries) {
    int capacity = Integer.highestOneBit(Math.max(8, entries.size() * 4)) * 2;
    names = new byte[capacity][];
    values = new Object[capacity];
    mask = capacity - 1;
    entries.forEach(
        (name, value) -> {
          byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
          int slot = slot(bytes, 0, bytes.length);
          while (values[slot] != null) {
            slot = (slot + 1) & mask;
          }
          names[slot] = bytes;
          values[slot] = value;
        });
  }

  /** What the {@code length} bytes from {@code from} on name, null if nothing. */
  @SuppressWarnings("unchecked") // only values of type T are put in
  @Nullable T find(byte[] bytes, int from, int length) {
    if (length == 0) {
      return null;
    }
    int slot = slot(bytes, from, length);
    while (values[slot] != null) {
      byte[] name = names[slot];
      if (Arrays.equals(name, 0, name.length, bytes, from, from + length)) {
        return (T) values[slot];
      }
      slot = (slot + 1) & mask;
    }
    return null;
  }

  private int slot(byte[] bytes, int from, int length) {
    int mixed = length * 31 + bytes[from] * 7 + bytes[from + length - 1] * 131;
    mixed += bytes[from + length / 2] * 17;
    return (mixed ^ (mixed >>> 8)) & mask;
  }
}
