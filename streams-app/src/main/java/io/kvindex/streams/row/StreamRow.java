// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import org.jspecify.annotations.Nullable;

/**
 * {@code S}: how far a stream was applied.
 *
 * @param stream which
 * @param incarnation the life it is in
 * @param last position of the last record applied in that life, null = none yet
 * @param sourceOffset offset of that record in the events topic, -1 = none yet
 * @param sourceTimeMicros the engine's time on it, microseconds since the epoch
 * @param appendTimeMs the broker's time on it, milliseconds since the epoch
 * @param gaps holes since the last time the stream was complete; above 0 = degraded
 */
public record StreamRow(
    StreamId stream,
    Incarnation incarnation,
    @Nullable Position last,
    long sourceOffset,
    long sourceTimeMicros,
    long appendTimeMs,
    long gaps) {

  /** A stream in a life of which nothing was applied yet. */
  public static StreamRow atStart(StreamId stream, Incarnation incarnation) {
    return new StreamRow(stream, incarnation, null, -1, 0, 0, 0);
  }

  /** The same place with another number of gaps. */
  public StreamRow withGaps(long newGaps) {
    return new StreamRow(
        stream, incarnation, last, sourceOffset, sourceTimeMicros, appendTimeMs, newGaps);
  }

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(64);
    out.writeString(stream.key());
    EventRecordCodec.writeIncarnation(out, incarnation);
    out.writeByte(last == null ? 0 : last.last() ? 2 : 1);
    if (last != null) {
      out.writeVarint(last.eventId());
      out.writeVarint(last.part());
    }
    out.writeZigZag(sourceOffset);
    out.writeZigZag(sourceTimeMicros);
    out.writeZigZag(appendTimeMs);
    out.writeVarint(gaps);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static StreamRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    StreamId stream = StreamId.parse(in.readRequiredString());
    Incarnation incarnation = RowValue.readIncarnation(in);
    int kind = in.readByte();
    Position last = kind == 0 ? null : new Position(in.readVarint(), in.readInt(), kind == 2);
    return new StreamRow(
        stream,
        incarnation,
        last,
        in.readZigZag(),
        in.readZigZag(),
        in.readZigZag(),
        in.readVarint());
  }
}
