// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.event.EventRecord.Position;
import java.util.Comparator;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;

/** A stream's position and the records of it that are held back. Belongs to the writer. */
public final class StreamState {

  /** Places in a stream, whichever part is the last. */
  public static final Comparator<Position> ORDER =
      Comparator.comparing(Position::eventId, Long::compareUnsigned)
          .thenComparingInt(Position::part);

  private final int ref;
  private final Bytes key;
  private final TreeMap<Position, HeldRow> held = new TreeMap<>(ORDER);
  private StreamRow row;

  StreamState(int ref, StreamRow row) {
    this.ref = ref;
    key = Rows.key(Rows.STREAM, ref);
    this.row = row;
  }

  /** Its number in row keys. */
  public int ref() {
    return ref;
  }

  /** Key of its row. */
  Bytes key() {
    return key;
  }

  /** Its position. */
  public StreamRow row() {
    return row;
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

  void setRow(StreamRow newRow) {
    row = newRow;
  }
}
