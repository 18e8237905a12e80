// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.view.StreamPosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Positions and held-back records of a partition's streams: rows {@code S} and {@code H}. */
public final class Streams {

  private final Map<Integer, StreamState> byRef = new HashMap<>();
  private final Map<StreamId, StreamState> byId = new HashMap<>();
  private final Map<PublisherId, List<StreamState>> byPublisher = new HashMap<>();

  /** How many streams with holes, only publishers that have any. */
  private final Map<PublisherId, Integer> holed = new HashMap<>();

  /** In the order of their numbers, not of their waiting: the same after loading. */
  private final Map<Integer, StreamState> waiting = new TreeMap<>();

  private final Map<StreamId, StreamPosition> positions = new ConcurrentHashMap<>();
  private volatile long appliedOffset = -1;
  private long takenOffset = -1;
  private volatile int heldRecords;
  private boolean isCut;

  /** Asked for with every query, so kept ready. */
  private volatile Set<PublisherId> degraded = Set.of();

  Streams() {}

  void fold(int ref, StreamRow row) {
    StreamState known = byRef.get(ref);
    if (known == null) {
      known = new StreamState(ref, row);
      byRef.put(ref, known);
      byId.put(row.stream(), known);
      byPublisher
          .computeIfAbsent(row.stream().publisher(), publisher -> new ArrayList<>(1))
          .add(known);
    } else {
      known.setRow(row);
    }
    // Before the position: who sees that asks for answers of this offset.
    if (row.sourceOffset() > appliedOffset) {
      appliedOffset = row.sourceOffset();
    }
    StreamPosition before =
        positions.put(
            row.stream(),
            new StreamPosition(
                row.incarnation(),
                row.last(),
                row.sourceOffset(),
                row.sourceTimeMicros(),
                row.appendTimeMs(),
                row.gaps(),
                row.retells()));
    if ((before != null && before.degraded()) != row.lacks() > 0) {
      noteHoles(row.stream().publisher(), row.lacks() > 0 ? 1 : -1);
    }
  }

  void foldCut() {
    isCut = true;
  }

  /**
   * Whether records of the log were gone before they could be read: what streams said in them that
   * have not been heard since is not known. For the table's writer.
   */
  public boolean isCut() {
    return isCut;
  }

  private void noteHoles(PublisherId publisher, int streams) {
    int before = holed.getOrDefault(publisher, 0);
    if (before + streams == 0) {
      holed.remove(publisher);
    } else {
      holed.put(publisher, before + streams);
    }
    if (before == 0 || before + streams == 0) {
      degraded = Collections.unmodifiableSet(new TreeSet<>(holed.keySet()));
    }
  }

  @SuppressWarnings("NonAtomicOperationOnVolatileField") // one writer
  void foldHeld(int ref, long eventId, int part, @Nullable HeldRow row) {
    StreamState stream = byRef.get(ref);
    StreamState.Held place = new StreamState.Held(eventId, part);
    if (stream == null) {
      throw new IllegalStateException("BUG: a record is held back of an unknown stream " + ref);
    }
    int before = stream.held().size();
    if (row == null) {
      stream.held().remove(place);
    } else {
      stream.held().put(place, row);
    }
    heldRecords += stream.held().size() - before;
    if (stream.held().isEmpty()) {
      waiting.remove(ref);
    } else {
      waiting.put(ref, stream);
    }
  }

  /** The stream, null = nothing of it seen yet. */
  public @Nullable StreamState get(StreamId stream) {
    return byId.get(stream);
  }

  /** All streams of a publisher. */
  public List<StreamState> of(PublisherId publisher) {
    return byPublisher.getOrDefault(publisher, List.of());
  }

  /** All streams. */
  public Collection<StreamState> all() {
    return byRef.values();
  }

  /** Streams with records held back. */
  public Collection<StreamState> waiting() {
    return waiting.values();
  }

  /** A reference no stream has. */
  public int next() {
    return byRef.size() + 1;
  }

  /** Any thread: records held back. */
  public int heldRecords() {
    return heldRecords;
  }

  /** Any thread. */
  Set<PublisherId> degradedPublishers() {
    return degraded;
  }

  Map<StreamId, StreamPosition> positions() {
    return positions;
  }

  long appliedOffset() {
    return appliedOffset;
  }

  /** The record at that offset was dealt with, whatever became of it. */
  public void taken(long offset) {
    appliedOffset = Math.max(appliedOffset, offset);
    takenOffset = offset;
  }

  /** Offset of the last record dealt with, -1 = none. For the table's writer. */
  public long takenOffset() {
    return takenOffset;
  }
}
