// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

/** Spreads residency rows over tables with a power of two of places. */
public final class RowHash {

  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private RowHash() {}

  /** Of a row's key; all 32 bits are mixed, so that a mask of any of the lower ones will do. */
  public static int of(int ownerId, long engineHash, int group) {
    return (int) ((engineHash + ownerId * 31L + group) * GOLDEN_RATIO >>> 32);
  }
}
