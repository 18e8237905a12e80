// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import java.util.HashMap;
import java.util.Map;
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

  /** Direct-mapped: a power of two of places, a newer meaning takes the place of an older one. */
  private static final int REMEMBERED = 1 << 16;

  private record Known(int space, long hash, ContentRow row) {}

  private final KeyValueStore<Bytes, byte[]> store;
  private final int unusedBound;
  private final @Nullable Known[] remembered = new Known[REMEMBERED];
  private final Map<Bytes, ContentRow> pending = new HashMap<>();
  private final UnheldQueue unused = new UnheldQueue();

  /** Rows found in the store at start are looked through from here, null = all are. */
  private @Nullable Bytes review;

  Contents(KeyValueStore<Bytes, byte[]> store, int unusedBound) {
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
    Known known = remembered[place(space, hash)];
    if (known != null && known.hash() == hash && known.space() == space) {
      return known.row();
    }
    Bytes key = RowKeys.ofHash(RowKind.CONTENT, space, hash);
    ContentRow row = pending.get(key);
    if (row == null) {
      byte[] value = store.get(key);
      row = value == null ? null : ContentRow.decode(value);
    }
    if (row != null) {
      remembered[place(space, hash)] = new Known(space, hash, row);
    }
    return row;
  }

  /** Teaches a meaning. */
  void put(RowBatch batch, int space, long hash, ContentRow row) {
    Bytes key = RowKeys.ofHash(RowKind.CONTENT, space, hash);
    pending.put(key, row);
    remembered[place(space, hash)] = new Known(space, hash, row);
    batch.put(key, row.encode());
  }

  private static int place(int space, long hash) {
    return (int) ((hash ^ (long) space << 32) * 0x9E3779B97F4A7C15L >>> 48);
  }

  /** The current record is written. */
  void committed() {
    pending.clear();
  }

  /** A block lost its last holder. */
  void unheld(int space, long hash, long lookupKey) {
    unused.add(space, hash, lookupKey);
  }

  /** Forgets meanings beyond the bound, except those held again. */
  void trim(RowBatch batch, HeldBy heldBy) {
    while (unused.size() > unusedBound) {
      unused.remove(
          (space, hash, lookupKey) -> {
            if (!heldBy.anyone(space, lookupKey)) {
              forget(batch, space, hash, lookupKey);
            }
          });
    }
  }

  private void forget(RowBatch batch, int space, long hash, long lookupKey) {
    Bytes key = RowKeys.ofHash(RowKind.CONTENT, space, hash);
    Known now = remembered[place(space, hash)];
    boolean remembersIt = now != null && now.hash() == hash && now.space() == space;
    // The hash may mean something else by now.
    if (now == null || !remembersIt || now.row().lookupKey() == lookupKey) {
      remembered[place(space, hash)] = remembersIt ? null : now;
      batch.put(key, null);
    }
  }

  /**
   * Looks through up to {@code most} rows that were there at start for those nobody holds, which
   * nobody queued: the queue does not outlive the task.
   */
  void review(int most, HeldBy heldBy) {
    Bytes from = review;
    if (from == null) {
      return;
    }
    int seen = 0;
    try (KeyValueIterator<Bytes, byte[]> all =
        store.range(from, RowKeys.first(RowKind.CONTENT + 1))) {
      while (all.hasNext() && seen++ < most) {
        KeyValue<Bytes, byte[]> row = all.next();
        long lookupKey = ContentRow.decode(row.value).lookupKey();
        int space = RowKeys.id(row.key.get());
        if (!heldBy.anyone(space, lookupKey)) {
          unheld(space, RowKeys.hash(row.key.get()), lookupKey);
        }
        from = row.key;
      }
      review = all.hasNext() ? from : null;
    }
  }

  /** Whether a live owner holds a block. */
  interface HeldBy {
    boolean anyone(int space, long lookupKey);
  }
}
