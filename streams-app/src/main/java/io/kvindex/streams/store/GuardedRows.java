// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Rows in RocksDB of which every failure to read or write goes to {@link StoreFaults}.
 *
 * <p>{@link #managesOffsets}, {@link #commit} and {@link #committedOffset} go to RocksDB together:
 * one without the others costs a full restore at every start (Kafka Streams 4.3, KIP-1035).
 */
@SuppressWarnings("deprecation") // managesOffsets still decides in 4.3 who keeps the offsets
abstract class GuardedRows implements KeyValueStore<Bytes, byte[]> {

  private final KeyValueStore<Bytes, byte[]> inner;
  private final StoreFaults faults;
  private TaskId task = new TaskId(0, 0);

  GuardedRows(KeyValueStore<Bytes, byte[]> inner, StoreFaults faults) {
    this.inner = inner;
    this.faults = faults;
  }

  /** A call of RocksDB's store with two arguments. */
  private interface Call<A, B, R> {
    R on(KeyValueStore<Bytes, byte[]> rows, A first, B second);
  }

  // Calls take their arguments apart from the lambda: one that captures nothing is made once, and
  // these stand on the way of every block.

  private <A, R> R guarded(BiFunction<KeyValueStore<Bytes, byte[]>, A, R> call, A argument) {
    try {
      return call.apply(inner, argument);
    } catch (ProcessorStateException e) {
      throw faults.of(task, e);
    }
  }

  private <A, B, R> R guarded(Call<A, B, R> call, A first, B second) {
    try {
      return call.on(inner, first, second);
    } catch (ProcessorStateException e) {
      throw faults.of(task, e);
    }
  }

  /** What to throw where rows are not what they should be. */
  final RuntimeException damaged(Throwable cause) {
    return faults.damaged(task, cause);
  }

  /** To be called when a store opens; what is in it must have followed the changelog. */
  final void opened(boolean empty) {
    if (empty) {
      faults.begunAnew(task);
    } else {
      faults.requireFollowed(task);
    }
  }

  /** To be called before rows of the changelog are written, or the table gets its owner. */
  final void requireFollowed() {
    faults.requireFollowed(task);
  }

  /** Whether what was saved of the rows is as wrong as they were. */
  final boolean mustBeginAnew() {
    return faults.mustBeginAnew(task);
  }

  /** RocksDB's store, for what is not guarded. */
  final KeyValueStore<Bytes, byte[]> inner() {
    return inner;
  }

  @Override
  public final void init(StateStoreContext context, StateStore root) {
    task = context.taskId();
    try {
      open(context, root);
    } catch (RuntimeException e) {
      throw faults.of(task, e);
    }
  }

  /** Opens {@link #inner}. */
  abstract void open(StateStoreContext context, StateStore root);

  /** Closes {@link #inner}, which may write what it has collected. */
  final void closeRows() {
    guarded(
        (rows, none) -> {
          rows.close();
          return Boolean.TRUE;
        },
        Boolean.TRUE);
  }

  @Override
  public void put(Bytes key, byte[] value) {
    guarded(
        (rows, k, v) -> {
          rows.put(k, v);
          return Boolean.TRUE;
        },
        key,
        value);
  }

  @Override
  public byte[] putIfAbsent(Bytes key, byte[] value) {
    return guarded(KeyValueStore::putIfAbsent, key, value);
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    faults.requireFollowed(task);
    guarded(
        (rows, all) -> {
          rows.putAll(all);
          return Boolean.TRUE;
        },
        entries);
  }

  /** Writes rows of the changelog as RocksDB's store itself would. */
  final void write(
      Collection<ConsumerRecord<byte[], byte[]>> records, RecordBatchingStateRestoreCallback rows) {
    try {
      rows.restoreBatch(records);
    } catch (ProcessorStateException e) {
      throw faults.of(task, e);
    }
  }

  @Override
  public byte[] delete(Bytes key) {
    return guarded(KeyValueStore::delete, key);
  }

  @Override
  public byte[] get(Bytes key) {
    return guarded(KeyValueStore::get, key);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
    return guarded(KeyValueStore::range, from, to);
  }

  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    guarded(
        (rows, offsets) -> {
          rows.commit(offsets);
          return Boolean.TRUE;
        },
        changelogOffsets);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    return inner.all();
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
