// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.RememberedBlocks;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The rows one record changes, written with a single {@code putAll}. Rows that others refer to are
 * folded as they are put, so that the rest of the record sees them; residency changes by its net
 * effect once everything is written; the stream's position comes last, so that who sees it sees all
 * the record did.
 */
public final class RowBatch {

  private final PartitionTable table;
  private final KeyValueStore<Bytes, byte[]> store;
  private final BlockChanges blocks;
  private final List<KeyValue<Bytes, byte[]>> rows = new ArrayList<>();
  private final List<KeyValue<Bytes, byte[]>> closing = new ArrayList<>();

  /**
   * @param unheld told of blocks whose last holder let go
   * @param remembered places for residency rows, see {@link Limits#rememberedBlocks}
   */
  public RowBatch(
      PartitionTable table, KeyValueStore<Bytes, byte[]> store, Unheld unheld, int remembered) {
    this.table = table;
    this.store = store;
    this.blocks = new BlockChanges(table, store, unheld, new RememberedBlocks(remembered));
  }

  /** Writes a row the rest of the record may refer to; null deletes. */
  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  void put(Bytes key, byte @Nullable [] value) {
    rows.add(KeyValue.pair(key, value));
    table.fold(key.get(), value);
  }

  /** Writes a content row. */
  void content(Bytes key, ContentRow row) {
    rows.add(KeyValue.pair(key, row.encode()));
  }

  /** Deletes a content row. */
  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  void contentForgotten(Bytes key) {
    rows.add(KeyValue.pair(key, null));
  }

  /** Writes a stream's position, after everything else. */
  public void position(int streamRef, StreamRow row) {
    closing.add(KeyValue.pair(RowKeys.ofId(RowKind.STREAM, streamRef), row.encode()));
  }

  /** Writes or deletes a held-back record, after everything else. */
  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  public void held(Bytes key, byte @Nullable [] value) {
    closing.add(KeyValue.pair(key, value));
  }

  /** Residency changes. */
  BlockChanges blocks() {
    return blocks;
  }

  /** Writes all rows, then makes them visible, and starts over. */
  public void commit() {
    blocks.write(this);
    rows.addAll(closing);
    if (!rows.isEmpty()) {
      store.putAll(rows);
    }
    blocks.fold();
    for (KeyValue<Bytes, byte[]> row : closing) {
      table.fold(row.key.get(), row.value);
    }
    rows.clear();
    closing.clear();
  }

  /** Writes a residency row; it is folded when the batch is committed. */
  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  void block(Bytes key, byte @Nullable [] value) {
    rows.add(KeyValue.pair(key, value));
  }
}
