// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * 64-bit sum of a record, which tells two that were written to the same offset apart. Kept in
 * checkpoints, so it never changes.
 */
public final class RecordSum {

  private static final LongHashFunction XXH3 = LongHashFunction.xx3();

  /** Stands for what is not there, which is not the same as what is empty. */
  private static final long ABSENT = 0x9E37_79B9_7F4A_7C15L;

  private RecordSum() {}

  /**
   * XXH3 of time, key and value. The log's own time is in it since a bridge may send the very bytes
   * again after the log has lost them.
   *
   * @param key null = it has none
   * @param value null = it has none
   */
  public static long of(long timestampMs, byte @Nullable [] key, byte @Nullable [] value) {
    return XXH3.hashLongs(new long[] {timestampMs, of(key), of(value)});
  }

  private static long of(byte @Nullable [] bytes) {
    return bytes == null ? ABSENT : XXH3.hashBytes(bytes);
  }
}
