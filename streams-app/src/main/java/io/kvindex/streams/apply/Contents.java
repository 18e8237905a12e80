// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.Tables;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * What engine hashes mean: rows {@code K}, with a bounded memory of the ones used last, because
 * RocksDB reads cost more than anything else here. Rows outlive the residency of their block; when
 * their number without a holder exceeds a bound the oldest go.
 *
 * <p>Rows that were there at start are looked through little by little, from the first key to the
 * last: which hashes they are, so that others need no read, and which of them nobody holds.
 */
final class Contents {

  /** Of all rows before {@link #review}. */
  private final KnownHashes known = new KnownHashes();

  private final KeyValueStore<Bytes, byte[]> store;
  private final int unusedBound;
  private final Remembered remembered = new Remembered();
  private final UnheldQueue unused = new UnheldQueue();

  /** Spaces a row of which was given another meaning since the task began. */
  private final Set<Integer> rewritten = new HashSet<>();

  /** The first row not looked through yet, null = all are. */
  private @Nullable Bytes review;

  Contents(KeyValueStore<Bytes, byte[]> store, int unusedBound) {
    this.store = store;
    this.unusedBound = unusedBound;
    try (KeyValueIterator<Bytes, byte[]> all = from(RowKeys.first(RowKind.CONTENT))) {
      review = all.hasNext() ? all.peekNextKey() : null;
    }
  }

  private KeyValueIterator<Bytes, byte[]> from(Bytes key) {
    return store.range(key, RowKeys.first(RowKind.CONTENT + 1));
  }

  /** Meaning of a hash in a space, rows of the current record included; null = never told. */
  @Nullable ContentRow get(int space, long hash) {
    ContentRow row = remembered.get(space, hash);
    if (row == null && (known.mayContain(space, hash) || !isReviewed(space, hash))) {
      byte[] value = store.get(key(space, hash));
      if (value != null) {
        row = ContentRow.decode(value);
        remembered.read(space, hash, row);
      }
    }
    return row;
  }

  /** Teaches a meaning. */
  void put(RowBatch batch, int space, long hash, ContentRow row) {
    boolean isNew = get(space, hash) == null;
    remembered.taught(space, hash, row);
    batch.content(key(space, hash), row);
    if (isNew && isReviewed(space, hash)) {
      known.add(space, hash);
    }
  }

  private static Bytes key(int space, long hash) {
    return RowKeys.ofHash(RowKind.CONTENT, space, hash);
  }

  /** Whether its row, if there is one, is among the known ones. */
  private boolean isReviewed(int space, long hash) {
    return review == null || key(space, hash).compareTo(review) < 0;
  }

  /** A row of a space has another meaning now than it had. */
  void rewritten(int space) {
    rewritten.add(space);
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
            // Where publishers share a space, a row is there with the meaning it had.
            boolean sure = meant && tables.space(space).isShared() && !rewritten.contains(space);
            ContentRow now = sure ? null : get(space, hash);
            if (sure && !tables.held(space, lookupKey)
                || now != null && !tables.held(space, now.lookupKey())) {
              forget(batch, space, hash);
            }
          });
    }
  }

  private void forget(RowBatch batch, int space, long hash) {
    remembered.forget(space, hash);
    batch.contentForgotten(key(space, hash));
    if (isReviewed(space, hash)) {
      known.remove(space, hash);
    }
  }

  /**
   * Looks through up to {@code most} rows that were there at start. The unheld ones of them nobody
   * queued: the queue does not outlive the task. To be called between records.
   *
   * @return whether there are more
   */
  boolean review(int most, Tables tables) {
    if (review == null) {
      return false;
    }
    try (KeyValueIterator<Bytes, byte[]> all = from(review)) {
      for (int seen = 0; seen < most && all.hasNext(); seen++) {
        KeyValue<Bytes, byte[]> row = all.next();
        int space = RowKeys.id(row.key.get());
        long hash = RowKeys.hash(row.key.get());
        known.add(space, hash);
        long lookupKey = ContentRow.decode(row.value).lookupKey();
        if (!tables.held(space, lookupKey)) {
          unheld(space, hash, lookupKey, true);
        }
      }
      review = all.hasNext() ? all.peekNextKey() : null;
    }
    return review != null;
  }
}
