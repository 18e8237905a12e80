// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import java.util.Arrays;

/** Open-addressing map from hashes to places in an array; the last one put counts. */
final class HashPlaces {

  private static final int NONE = -1;
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final long[] keys;
  private final int[] places;
  private final int shift;

  /**
   * @param size hashes at most
   */
  HashPlaces(int size) {
    int bits = Math.max(4, Integer.SIZE - Integer.numberOfLeadingZeros(2 * size));
    keys = new long[1 << bits];
    places = new int[1 << bits];
    Arrays.fill(places, NONE);
    shift = Long.SIZE - bits;
  }

  void put(long key, int place) {
    int at = find(key);
    keys[at] = key;
    places[at] = place;
  }

  /** The place of a hash, -1 = none. */
  int get(long key) {
    return places[find(key)];
  }

  private int find(long key) {
    int at = (int) (key * SPREAD >>> shift);
    while (places[at] != NONE && keys[at] != key) {
      at = at + 1 & keys.length - 1;
    }
    return at;
  }
}
