// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.view.StreamPosition;
import java.util.Comparator;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;

/**
 * {@code S}: how far a stream was applied, and the records of it that are held back. Belongs to the
 * writer.
 */
public final class StreamState {

  /** Places in a stream, whichever part is the last. */
  public static final Comparator<Position> ORDER =
      Comparator.comparing(Position::eventId, Long::compareUnsigned)
          .thenComparingInt(Position::part);

  private static final int APPLIED_PART = 1;
  private static final int APPLIED_LAST_PART = 2;

  /** Beside those. */
  private static final int RETELLS = 4;

  private static final int CUT = 8;

  private final int ref;
  private final Bytes key;
  private final StreamId id;
  private final TreeMap<Position, HeldRow> held = new TreeMap<>(ORDER);
  private StreamPosition at;

  StreamState(int ref, StreamId id, StreamPosition at) {
    this.ref = ref;
    key = Rows.key(Rows.STREAM, ref);
    this.id = id;
    this.at = at;
  }

  static StreamState decode(int ref, byte[] value) {
    RecordReader in = Rows.reader(value);
    StreamId stream = StreamId.parse(in.readRequiredString());
    Incarnation incarnation = Rows.readIncarnation(in);
    int flags = in.readByte();
    int applied = flags & ~(RETELLS | CUT);
    Position last =
        applied == 0
            ? null
            : new Position(in.readVarint(), in.readInt(), applied == APPLIED_LAST_PART);
    return new StreamState(
        ref,
        stream,
        new StreamPosition(
            incarnation,
            last,
            in.readZigZag(),
            in.readZigZag(),
            in.readZigZag(),
            in.readVarint(),
            (flags & RETELLS) != 0,
            (flags & CUT) != 0));
  }

  static byte[] encode(StreamId id, StreamPosition at) {
    RecordWriter out = Rows.writer(64);
    out.writeString(id.key());
    EventRecordCodec.writeIncarnation(out, at.incarnation());
    Position last = at.last();
    int applied = last == null ? 0 : last.last() ? APPLIED_LAST_PART : APPLIED_PART;
    out.writeByte(applied | (at.retells() ? RETELLS : 0) | (at.cut() ? CUT : 0));
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

  /** Its number in row keys. */
  int ref() {
    return ref;
  }

  /** Key of its row. */
  Bytes key() {
    return key;
  }

  /** Which it is. */
  public StreamId id() {
    return id;
  }

  /** Where it is. */
  public StreamPosition at() {
    return at;
  }

  /** Records held back, in order. */
  public TreeMap<Position, HeldRow> held() {
    return held;
  }

  /** The broker's time on the record held longest; {@link Long#MAX_VALUE} = none is held. */
  public long heldSinceMs() {
    long oldest = Long.MAX_VALUE;
    for (HeldRow one : held.values()) {
      oldest = Math.min(oldest, one.appendTimeMs());
    }
    return oldest;
  }

  void moveTo(StreamPosition now) {
    at = now;
  }
}
