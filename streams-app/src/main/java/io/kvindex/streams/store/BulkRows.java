// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Rows on their way into RocksDB, for tables that are built from the log and have no changelog.
 * Most of what a row costs is finding its place in a memtable; rows that come many at a time and in
 * order go next to each other. The last word on each key is collected in a map, and all of it is
 * written before anything is read in order, when the store is closed, and when there is much of it.
 * So a reader of another thread sees whole batches, as without this layer. Thread-safe.
 *
 * <p>A process that dies loses what is here, as it loses what is in memtables: there is no log of
 * either.
 */
@SuppressWarnings("deprecation") // managesOffsets still decides in 4.3 who keeps the offsets
final class BulkRows implements KeyValueStore<Bytes, byte[]> {

  private static final int NUMBER_BITS = 16;

  /** About what a memtable holds: 10 MB of heap. */
  private static final int MOST = 1 << NUMBER_BITS;

  /** Rows of one write to RocksDB. */
  private static final int STEP = 1 << 12;

  private final KeyValueStore<Bytes, byte[]> inner;
  private Map<Bytes, byte @Nullable []> waiting = new HashMap<>();

  BulkRows(KeyValueStore<Bytes, byte[]> inner) {
    this.inner = inner;
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    inner.init(context, root);
  }

  @Override
  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  public synchronized void put(Bytes key, byte @Nullable [] value) {
    putAll(List.of(KeyValue.pair(key, value)));
  }

  @Override
  public synchronized void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    if (waiting.size() + entries.size() > MOST) {
      drain();
    }
    if (entries.size() > MOST) {
      inner.putAll(entries);
    } else {
      entries.forEach(row -> waiting.put(row.key, row.value));
    }
  }

  @Override
  @SuppressWarnings("NullAway") // as Kafka has it, null = none
  public synchronized byte @Nullable [] get(Bytes key) {
    byte[] value = waiting.get(key);
    return value != null || waiting.containsKey(key) ? value : inner.get(key);
  }

  @Override
  @SuppressWarnings("NullAway")
  public synchronized byte @Nullable [] putIfAbsent(Bytes key, byte[] value) {
    byte[] known = get(key);
    if (known == null) {
      put(key, value);
    }
    return known;
  }

  @Override
  @SuppressWarnings("NullAway")
  public synchronized byte @Nullable [] delete(Bytes key) {
    byte[] known = get(key);
    put(key, null);
    return known;
  }

  @Override
  public synchronized KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
    drain();
    return inner.range(from, to);
  }

  @Override
  public synchronized KeyValueIterator<Bytes, byte[]> all() {
    drain();
    return inner.all();
  }

  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  private void drain() {
    if (waiting.isEmpty()) {
      return;
    }
    List<KeyValue<Bytes, byte[]>> rows = new ArrayList<>(STEP);
    for (Map.Entry<Bytes, byte @Nullable []> next : inOrder()) {
      rows.add(KeyValue.pair(next.getKey(), next.getValue()));
      if (rows.size() == STEP) {
        inner.putAll(rows);
        rows.clear();
      }
    }
    if (!rows.isEmpty()) {
      inner.putAll(rows);
    }
    // As large as this one was filled: going through a large one for a few rows would take longer.
    waiting = new HashMap<>(2 * waiting.size());
  }

  /**
   * Rows in about the order of their keys, told by six bytes of each: kind, the end of the id, the
   * beginning of the hash. RocksDB takes any order; comparing whole keys would cost as much as it
   * saves there.
   */
  private List<Map.Entry<Bytes, byte @Nullable []>> inOrder() {
    List<Map.Entry<Bytes, byte @Nullable []>> rows = new ArrayList<>(waiting.entrySet());
    long[] order = new long[rows.size()];
    for (int i = 0; i < order.length; i++) {
      order[i] = place(rows.get(i).getKey().get()) << NUMBER_BITS | i & MOST - 1;
    }
    Arrays.sort(order);
    List<Map.Entry<Bytes, byte @Nullable []>> sorted = new ArrayList<>(order.length);
    for (long one : order) {
      sorted.add(rows.get((int) (one & MOST - 1)));
    }
    return sorted;
  }

  private static long place(byte[] key) {
    long place = key[0];
    for (int i = 3; i < 8; i++) {
      place = place << Byte.SIZE | (i < key.length ? key[i] & 0xff : 0);
    }
    return place;
  }

  @Override
  public synchronized void close() {
    try {
      if (inner.isOpen()) {
        drain();
      }
    } finally {
      inner.close();
    }
  }

  @Override
  public synchronized void commit(Map<TopicPartition, Long> changelogOffsets) {
    drain();
    inner.commit(changelogOffsets);
  }

  @Override
  public long approximateNumEntries() {
    return inner.approximateNumEntries();
  }

  @Override
  public String name() {
    return inner.name();
  }

  @Override
  public boolean persistent() {
    return inner.persistent();
  }

  @Override
  public boolean isOpen() {
    return inner.isOpen();
  }

  @Override
  public Position getPosition() {
    return inner.getPosition();
  }

  @Override
  public boolean managesOffsets() {
    return inner.managesOffsets();
  }

  @Override
  public @Nullable Long committedOffset(TopicPartition partition) {
    return inner.committedOffset(partition);
  }
}
