// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.table.StreamState;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The rows of records that came early and are held back. Changes count once the batch is committed.
 * For the thread that owns the task.
 */
final class HeldRecords {

  private final KeyValueStore<Bytes, byte[]> store;
  private final RowBatch batch;

  HeldRecords(KeyValueStore<Bytes, byte[]> store, RowBatch batch) {
    this.store = store;
    this.batch = batch;
  }

  /** Where in its stream a record is held. */
  static StreamState.Held place(EventRecord record) {
    return new StreamState.Held(record.position().eventId(), record.position().part());
  }

  /**
   * Holds a record back.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it
   */
  void add(int streamRef, EventRecord record, long offset, long appendTimeMs) {
    batch.held(
        key(streamRef, place(record)),
        new HeldRow(offset, appendTimeMs, EventRecordCodec.encode(record)).encode());
  }

  void remove(int streamRef, StreamState.Held place) {
    batch.held(key(streamRef, place), null);
  }

  /** The record held there, null = none. */
  @Nullable EventRecord get(StreamState stream, StreamState.Held place) {
    HeldRow row = row(stream, place);
    return row == null ? null : EventRecordCodec.decode(row.record());
  }

  /** Its row, null = none. */
  @Nullable HeldRow row(StreamState stream, StreamState.Held place) {
    byte[] value = store.get(key(stream.ref(), place));
    return value == null ? null : HeldRow.decode(value);
  }

  private static Bytes key(int streamRef, StreamState.Held place) {
    return RowKeys.held(streamRef, place.eventId(), place.part());
  }
}
