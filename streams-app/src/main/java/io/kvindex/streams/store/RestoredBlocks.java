// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.RowHash;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.RememberedBlocks;
import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Residency rows of a batch of the changelog, net per row: what each was before the batch and is
 * after it. A block that came and went within a batch costs the index nothing. For the thread that
 * restores.
 */
final class RestoredBlocks {

  private static final int SMALLEST = 1 << 10;

  /** Beyond it the arrays of a batch are not kept for the next one. */
  private static final int LARGEST = 1 << 14;

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> rows;
  private final RememberedBlocks remembered;
  private int size;
  private int[] owners = new int[SMALLEST];
  private long[] hashes = new long[SMALLEST];
  private int[] groups = new int[SMALLEST];
  private @Nullable BlockRow[] before = new BlockRow[SMALLEST];
  private @Nullable BlockRow[] after = new BlockRow[SMALLEST];

  /** Open addressing: number of the row + 1, 0 = free; half full at most. */
  private int[] places = new int[2 * SMALLEST];

  /**
   * @param rows what is written
   * @param remembered rows as they are written; nobody else may write any while it is in use
   */
  RestoredBlocks(
      PartitionTable table, KeyValueStore<Bytes, byte[]> rows, RememberedBlocks remembered) {
    this.table = table;
    this.rows = rows;
    this.remembered = remembered;
  }

  /**
   * Takes the next row of the batch, which is not written yet.
   *
   * @param value null = deleted
   */
  void take(byte[] key, byte @Nullable [] value) {
    int owner = RowKeys.id(key);
    long hash = RowKeys.hash(key);
    int group = RowKeys.blockGroup(key);
    int place = place(owner, hash, group);
    int row = places[place] - 1;
    if (row < 0) {
      row = add(owner, hash, group);
      places[place] = row + 1;
      before[row] = stored(key, owner, hash, group);
    }
    after[row] = value == null ? null : BlockRow.decode(value);
    if (size == owners.length) {
      grow();
    }
  }

  private @Nullable BlockRow stored(byte[] key, int owner, long hash, int group) {
    BlockRow known = remembered.get(owner, hash, group);
    if (known != null) {
      return known;
    }
    byte[] value = rows.get(Bytes.wrap(key));
    return value == null ? null : BlockRow.decode(value);
  }

  private int add(int owner, long hash, int group) {
    owners[size] = owner;
    hashes[size] = hash;
    groups[size] = group;
    return size++;
  }

  /** Where a row is, or would be. */
  private int place(int owner, long hash, int group) {
    int place = RowHash.of(owner, hash, group) & places.length - 1;
    while (places[place] != 0) {
      int row = places[place] - 1;
      if (hashes[row] == hash && owners[row] == owner && groups[row] == group) {
        return place;
      }
      place = place + 1 & places.length - 1;
    }
    return place;
  }

  private void grow() {
    int length = 2 * owners.length;
    owners = Arrays.copyOf(owners, length);
    hashes = Arrays.copyOf(hashes, length);
    groups = Arrays.copyOf(groups, length);
    before = Arrays.copyOf(before, length);
    after = Arrays.copyOf(after, length);
    places = new int[2 * length];
    for (int row = 0; row < size; row++) {
      places[place(owners[row], hashes[row], groups[row])] = row + 1;
    }
  }

  /**
   * Brings the index up to the rows, all of which are written by now, and begins the next batch.
   */
  void fold() {
    for (int row = 0; row < size; row++) {
      remembered.written(owners[row], hashes[row], groups[row], after[row]);
      table.foldBlock(owners[row], hashes[row], groups[row], before[row], after[row]);
    }
    if (owners.length > LARGEST) {
      shrink();
    } else {
      Arrays.fill(places, 0);
      Arrays.fill(before, 0, size, null);
      Arrays.fill(after, 0, size, null);
    }
    size = 0;
  }

  private void shrink() {
    owners = new int[SMALLEST];
    hashes = new long[SMALLEST];
    groups = new int[SMALLEST];
    before = new BlockRow[SMALLEST];
    after = new BlockRow[SMALLEST];
    places = new int[2 * SMALLEST];
  }
}
