// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.RowHash;
import org.jspecify.annotations.Nullable;

/**
 * Residency rows written last, in a bounded table of plain longs, so that a removal need not read
 * from RocksDB what was written a while ago, at the owner of the rows and at who has a copy. Most
 * rows have one copy and a known prefix; only these are kept. What is not here may be in the store;
 * what is here is what the store has. Grows with what it holds, up to its bound; then a newer row
 * takes the place of another. For one thread.
 */
public final class RememberedBlocks {

  /** Of an owner or a copy, if nothing else is asked for: 1.5 MiB. */
  public static final int PLACES = 1 << 16;

  private static final int SMALLEST = 1 << 10;
  private static final int WIDTH = 3;
  private static final int HASH = 0;
  private static final int WHOSE = 1; // 0 is an empty place
  private static final int LOOKUP_KEY = 2;

  /** Places a row may be in: next to each other, so that one or two cache lines are looked at. */
  private static final int WAYS = 4;

  private static final int GROUP_BITS = 7;
  private static final int SPACE_BITS = 24;

  private final int bound;
  private long[] table;
  private int mask;
  private int size;

  /**
   * @param bound places it may grow to, rounded up to a power of two; {@value #WIDTH} longs each
   */
  public RememberedBlocks(int bound) {
    this.bound = bound <= SMALLEST ? SMALLEST : Integer.highestOneBit(bound - 1) << 1;
    table = new long[SMALLEST * WIDTH];
    mask = SMALLEST - 1;
  }

  /** The row as it is in the store, null = not remembered. */
  public @Nullable BlockRow get(int ownerId, long hash, int group) {
    int at = find(bucket(ownerId, hash, group), ownerId, hash, group);
    return at < 0
        ? null
        : new BlockRow(
            1, (int) (table[at + WHOSE] & (1 << SPACE_BITS) - 1), true, table[at + LOOKUP_KEY]);
  }

  /**
   * The row was written.
   *
   * @param row null = deleted
   */
  public void written(int ownerId, long hash, int group, @Nullable BlockRow row) {
    int bucket = bucket(ownerId, hash, group);
    int at = find(bucket, ownerId, hash, group);
    if (row == null || !fits(row, group)) {
      if (at >= 0) {
        table[at + WHOSE] = 0;
        size--;
      }
      return;
    }
    if (at < 0) {
      at = place(bucket, hash);
    }
    table[at + HASH] = hash;
    table[at + WHOSE] = whose(ownerId, group) | row.space();
    table[at + LOOKUP_KEY] = row.lookupKey();
    if (2 * size > mask && mask + 1 < bound) {
      grow();
    }
  }

  private static boolean fits(BlockRow row, int group) {
    return row.copies() == 1
        && row.undecided() == 0
        && row.resolved()
        && row.space() < 1 << SPACE_BITS
        && group < (1 << GROUP_BITS) - 1;
  }

  /** A free place of a bucket, else one whose row is forgotten. */
  private int place(int bucket, long hash) {
    for (int way = 0; way < WAYS; way++) {
      int at = (bucket + way) * WIDTH;
      if (table[at + WHOSE] == 0) {
        size++;
        return at;
      }
    }
    return (bucket + (int) (hash >>> 8 & WAYS - 1)) * WIDTH;
  }

  private int find(int bucket, int ownerId, long hash, int group) {
    long whose = whose(ownerId, group);
    for (int way = 0; way < WAYS; way++) {
      int at = (bucket + way) * WIDTH;
      if (table[at + HASH] == hash && (table[at + WHOSE] & -1L << SPACE_BITS) == whose) {
        return at;
      }
    }
    return -1;
  }

  private static long whose(int ownerId, int group) {
    return ((long) ownerId << GROUP_BITS | group + 1) << SPACE_BITS;
  }

  /** First of the places a row may be in. */
  private int bucket(int ownerId, long hash, int group) {
    return RowHash.of(ownerId, hash, group) & mask & -WAYS;
  }

  private void grow() {
    long[] former = table;
    table = new long[2 * former.length];
    mask = 2 * mask + 1;
    size = 0;
    for (int at = 0; at < former.length; at += WIDTH) {
      long whose = former[at + WHOSE];
      if (whose != 0) {
        int group = (int) (whose >>> SPACE_BITS & (1 << GROUP_BITS) - 1) - 1;
        int ownerId = (int) (whose >>> SPACE_BITS + GROUP_BITS);
        int to = place(bucket(ownerId, former[at + HASH], group), former[at + HASH]);
        System.arraycopy(former, at, table, to, WIDTH);
      }
    }
  }
}
