// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.view.StreamPosition;

/**
 * {@code S}: how far a stream was applied.
 *
 * @param stream which
 * @param at where it is, as readers see it. Its offset counts records of any life, those that open
 *     one included, and never goes back, since it tells which of two tables knows more
 * @param cut whether records of the log were found missing since it last went on: then it waits for
 *     no predecessor, which may have been one of them
 */
public record StreamRow(StreamId stream, StreamPosition at, boolean cut) {

  private static final int APPLIED_PART = 1;
  private static final int APPLIED_LAST_PART = 2;

  /** Beside those. */
  private static final int RETELLS = 4;

  private static final int CUT = 8;

  /** A stream in a life of which nothing was applied yet. */
  public static StreamRow atStart(StreamId stream, Incarnation incarnation) {
    return new StreamRow(stream, new StreamPosition(incarnation, null, -1, 0, 0, 0, false), false);
  }

  private StreamRow with(long offset, long gaps, boolean retells, boolean isCut) {
    return new StreamRow(
        stream,
        new StreamPosition(
            at.incarnation(),
            at.last(),
            offset,
            at.sourceTimeMicros(),
            at.appendTimeMs(),
            gaps,
            retells),
        isCut);
  }

  /** The same place with another number of gaps. */
  public StreamRow withGaps(long gaps) {
    return with(at.sourceOffset(), gaps, at.retells(), cut);
  }

  /** The same place, learnt from another record of the log. */
  public StreamRow seenAt(long offset) {
    return with(offset, at.gaps(), at.retells(), cut);
  }

  /** The same place in a life that tells once more what was known before. */
  public StreamRow retelling() {
    return with(at.sourceOffset(), at.gaps(), true, cut);
  }

  /**
   * The same place after records of the log were found missing, any of which may have been of it.
   */
  public StreamRow afterMissing() {
    return with(at.sourceOffset(), at.gaps() + 1, at.retells(), true);
  }

  byte[] encode() {
    RecordWriter out = Rows.writer(64);
    out.writeString(stream.key());
    EventRecordCodec.writeIncarnation(out, at.incarnation());
    Position last = at.last();
    int applied = last == null ? 0 : last.last() ? APPLIED_LAST_PART : APPLIED_PART;
    out.writeByte(applied | (at.retells() ? RETELLS : 0) | (cut ? CUT : 0));
    if (last != null) {
      out.writeVarint(last.eventId());
      out.writeVarint(last.part());
    }
    out.writeZigZag(at.sourceOffset());
    out.writeZigZag(at.sourceTimeMicros());
    out.writeZigZag(at.appendTimeMs());
    out.writeVarint(at.gaps());
    return out.toByteArray();
  }

  static StreamRow decode(byte[] value) {
    RecordReader in = Rows.reader(value);
    StreamId stream = StreamId.parse(in.readRequiredString());
    Incarnation incarnation = Rows.readIncarnation(in);
    int flags = in.readByte();
    int applied = flags & ~(RETELLS | CUT);
    Position last =
        applied == 0
            ? null
            : new Position(in.readVarint(), in.readInt(), applied == APPLIED_LAST_PART);
    return new StreamRow(
        stream,
        new StreamPosition(
            incarnation,
            last,
            in.readZigZag(),
            in.readZigZag(),
            in.readZigZag(),
            in.readVarint(),
            (flags & RETELLS) != 0),
        (flags & CUT) != 0);
  }
}
