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
 * @param sourceOffset offset in the events topic of the newest record applied in any life, those
 *     that open one included, -1 = none yet; never goes back, since it tells which of two tables
 *     knows more
 * @param sourceTimeMicros the engine's time on the last record applied in this life, microseconds
 *     since the epoch
 * @param appendTimeMs the broker's time on that one, milliseconds since the epoch
 * @param gaps holes since the last time the stream was complete; above 0 = degraded
 * @param retells whether its life tells once more what was known before, and has not told all
 * @param cut whether records of the log were found missing since it last went on: then it waits for
 *     no predecessor, which may have been one of them
 */
public record StreamRow(
    StreamId stream,
    Incarnation incarnation,
    @Nullable Position last,
    long sourceOffset,
    long sourceTimeMicros,
    long appendTimeMs,
    long gaps,
    boolean retells,
    boolean cut) {

  private static final int APPLIED_PART = 1;
  private static final int APPLIED_LAST_PART = 2;

  /** Beside those. */
  private static final int RETELLS = 4;

  private static final int CUT = 8;

  /** A stream in a life of which nothing was applied yet. */
  public static StreamRow atStart(StreamId stream, Incarnation incarnation) {
    return new StreamRow(stream, incarnation, null, -1, 0, 0, 0, false, false);
  }

  /** The same place with another number of gaps. */
  public StreamRow withGaps(long newGaps) {
    return new StreamRow(
        stream,
        incarnation,
        last,
        sourceOffset,
        sourceTimeMicros,
        appendTimeMs,
        newGaps,
        retells,
        cut);
  }

  /** The same place, learnt from another record of the log. */
  public StreamRow seenAt(long offset) {
    return new StreamRow(
        stream, incarnation, last, offset, sourceTimeMicros, appendTimeMs, gaps, retells, cut);
  }

  /** The same place in a life that tells once more what was known before. */
  public StreamRow retelling() {
    return new StreamRow(
        stream, incarnation, last, sourceOffset, sourceTimeMicros, appendTimeMs, gaps, true, cut);
  }

  /**
   * The same place after records of the log were found missing, any of which may have been of it.
   */
  public StreamRow afterMissing() {
    return new StreamRow(
        stream,
        incarnation,
        last,
        sourceOffset,
        sourceTimeMicros,
        appendTimeMs,
        gaps + 1,
        retells,
        true);
  }

  /** In how many places something is missing; above 0 = degraded. */
  public long lacks() {
    return gaps + (retells ? 1 : 0);
  }

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(64);
    out.writeString(stream.key());
    EventRecordCodec.writeIncarnation(out, incarnation);
    int applied = last == null ? 0 : last.last() ? APPLIED_LAST_PART : APPLIED_PART;
    out.writeByte(applied | (retells ? RETELLS : 0) | (cut ? CUT : 0));
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
    int flags = in.readByte();
    int applied = flags & ~(RETELLS | CUT);
    Position last =
        applied == 0
            ? null
            : new Position(in.readVarint(), in.readInt(), applied == APPLIED_LAST_PART);
    return new StreamRow(
        stream,
        incarnation,
        last,
        in.readZigZag(),
        in.readZigZag(),
        in.readZigZag(),
        in.readVarint(),
        (flags & RETELLS) != 0,
        (flags & CUT) != 0);
  }
}
