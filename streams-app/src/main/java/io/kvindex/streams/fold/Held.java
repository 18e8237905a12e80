// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.table.StreamState;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Records that came early, as rows have them. */
final class Held {

  private Held() {}

  /** Where in its stream a record is held. */
  static StreamState.Held place(EventRecord record) {
    return new StreamState.Held(record.position().eventId(), record.position().part());
  }

  /** Key of its row. */
  static Bytes key(int streamRef, StreamState.Held place) {
    return RowKeys.held(streamRef, place.eventId(), place.part());
  }

  /** The record held there, null = none. */
  static @Nullable EventRecord record(StreamState stream, StreamState.Held place) {
    HeldRow row = stream.held().get(place);
    return row == null ? null : EventRecordCodec.decode(row.record());
  }
}
