// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a range in the order of their keys, read some thousand at a time: between two steps no
 * iterator is open, so that neither a store that closes nor a compaction waits for whoever takes
 * the rows. For one thread; RocksDB's store may be closed by another at any time.
 */
final class RowScan {

  private static final int STEP = 4_096;

  private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
  private final BooleanSupplier closed;
  private final Bytes to;
  private final Deque<KeyValue<Bytes, byte[]>> step = new ArrayDeque<>();
  private @Nullable Bytes from;

  /**
   * @param closed whether the store must not be touched any more
   */
  RowScan(ReadOnlyKeyValueStore<Bytes, byte[]> rows, BooleanSupplier closed, Bytes from, Bytes to) {
    this.rows = rows;
    this.closed = closed;
    this.from = from;
    this.to = to;
  }

  /**
   * The next row, null = there are no more.
   *
   * @throws InvalidStateStoreException if the store was closed
   */
  @Nullable KeyValue<Bytes, byte[]> next() {
    if (step.isEmpty() && from != null) {
      read(from);
    }
    return step.poll();
  }

  private void read(Bytes start) {
    requireOpen(closed);
    Bytes last = null;
    try (KeyValueIterator<Bytes, byte[]> some = rows.range(start, to)) {
      while (step.size() < STEP && some.hasNext()) {
        KeyValue<Bytes, byte[]> row = some.next();
        step.add(row);
        last = row.key;
      }
    }
    from = step.size() < STEP || last == null ? null : after(last);
  }

  static void requireOpen(BooleanSupplier closed) {
    if (closed.getAsBoolean()) {
      throw new InvalidStateStoreException("the partition has moved away");
    }
  }

  /** The first key beyond. */
  private static Bytes after(Bytes key) {
    return Bytes.wrap(Arrays.copyOf(key.get(), key.get().length + 1));
  }
}
