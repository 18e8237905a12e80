// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.KnownHashes;
import io.kvindex.streams.table.Tables;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * What engine hashes mean: rows {@code K}, with a bounded memory of the ones used last, because
 * RocksDB reads cost more than anything else here. Rows outlive the residency of their block; when
 * their number without a holder exceeds a bound the oldest go.
 */
final class Contents {

  private final KnownHashes known;
  private final KeyValueStore<Bytes, byte[]> store;
  private final int unusedBound;
  private final Remembered remembered = new Remembered();
  private final UnheldQueue unused = new UnheldQueue();

  /** Rows found in the store at start are looked through from here, null = all are. */
  private @Nullable Bytes review;

  Contents(KnownHashes known, KeyValueStore<Bytes, byte[]> store, int unusedBound) {
    this.known = known;
    this.store = store;
    this.unusedBound = unusedBound;
    Bytes first = RowKeys.first(RowKind.CONTENT);
    try (KeyValueIterator<Bytes, byte[]> all =
        store.range(first, RowKeys.first(RowKind.CONTENT + 1))) {
      review = all.hasNext() ? first : null;
    }
  }

  /** Meaning of a hash in a space, rows of the current record included; null = never told. */
  @Nullable ContentRow get(int space, long hash) {
    ContentRow row = remembered.get(space, hash);
    if (row == null && known.mayContain(space, hash)) {
      byte[] value = store.get(RowKeys.ofHash(RowKind.CONTENT, space, hash));
      if (value != null) {
        row = ContentRow.decode(value);
        remembered.read(space, hash, row);
      }
    }
    return row;
  }

  /** Teaches a meaning. */
  void put(RowBatch batch, int space, long hash, ContentRow row) {
    ContentRow before = get(space, hash);
    remembered.taught(space, hash, row);
    batch.content(RowKeys.ofHash(RowKind.CONTENT, space, hash), before != null, row);
  }

  /** The current record is written. */
  void committed() {
    remembered.committed();
  }

  /** A block lost its last holder. */
  void unheld(int space, long hash, long lookupKey, boolean meant) {
    unused.add(space, hash, lookupKey, meant);
  }

  /** Forgets meanings beyond the bound, except those held again. */
  void trim(RowBatch batch, Tables tables) {
    while (unused.size() > unusedBound) {
      unused.remove(
          (space, hash, lookupKey, meant) -> {
            if (!tables.held(space, lookupKey)) {
              forget(batch, space, hash, lookupKey, meant && tables.space(space).isShared());
            }
          });
    }
  }

  /**
   * @param sure whether the row is there with that meaning: where publishers share a space a row is
   *     never rewritten
   */
  private void forget(RowBatch batch, int space, long hash, long lookupKey, boolean sure) {
    if (!sure) {
      ContentRow now = get(space, hash);
      if (now == null || now.lookupKey() != lookupKey) {
        return;
      }
    }
    remembered.forget(space, hash);
    batch.contentForgotten(RowKeys.ofHash(RowKind.CONTENT, space, hash));
  }

  /**
   * Looks through up to {@code most} rows that were there at start for those nobody holds, which
   * nobody queued: the queue does not outlive the task. Whether there are more.
   */
  boolean review(int most, Tables tables) {
    Bytes from = review;
    if (from == null) {
      return false;
    }
    int seen = 0;
    try (KeyValueIterator<Bytes, byte[]> all =
        store.range(from, RowKeys.first(RowKind.CONTENT + 1))) {
      while (all.hasNext() && seen++ < most) {
        KeyValue<Bytes, byte[]> row = all.next();
        long lookupKey = ContentRow.decode(row.value).lookupKey();
        int space = RowKeys.id(row.key.get());
        if (!tables.held(space, lookupKey)) {
          unheld(space, RowKeys.hash(row.key.get()), lookupKey, true);
        }
        from = row.key;
      }
      review = all.hasNext() ? from : null;
    }
    return review != null;
  }
}
