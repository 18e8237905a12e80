// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.StreamRow;
import java.util.Comparator;
import java.util.TreeMap;

/** A stream's position and the records of it that are held back. Belongs to the writer. */
public final class StreamState {

  /**
   * Place of a held record in its stream.
   *
   * @param eventId unsigned
   */
  public record Held(long eventId, int part) implements Comparable<Held> {
    @Override
    public int compareTo(Held other) {
      int byEvent = Long.compareUnsigned(eventId, other.eventId);
      return byEvent != 0 ? byEvent : Integer.compare(part, other.part);
    }
  }

  private final int ref;
  private final TreeMap<Held, HeldRow> held = new TreeMap<>(Comparator.naturalOrder());
  private StreamRow row;

  StreamState(int ref, StreamRow row) {
    this.ref = ref;
    this.row = row;
  }

  /** Its number in row keys. */
  public int ref() {
    return ref;
  }

  /** Its position. */
  public StreamRow row() {
    return row;
  }

  /** Records held back, in order. */
  public TreeMap<Held, HeldRow> held() {
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
