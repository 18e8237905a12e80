// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord.Position;
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
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Positions and held-back records of a partition's streams: rows {@code S} and {@code H}. */
public final class Streams {

  private final Numbered<StreamId, StreamState> numbered = new Numbered<>("stream");
  private final Map<PublisherId, List<StreamState>> byPublisher = new HashMap<>();

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
    StreamState known = numbered.find(ref);
    PublisherId publisher = row.stream().publisher();
    if (known == null) {
      known = new StreamState(ref, row);
      numbered.put(ref, row.stream(), known);
      byPublisher.computeIfAbsent(publisher, of -> new ArrayList<>(1)).add(known);
    } else {
      known.setRow(row);
    }
    // Before the position: who sees that asks for answers of this offset.
    if (row.at().sourceOffset() > appliedOffset) {
      appliedOffset = row.at().sourceOffset();
    }
    StreamPosition before = positions.put(row.stream(), row.at());
    if ((before != null && before.degraded()) != row.at().degraded()) {
      noteHoles(publisher);
    }
  }

  private void noteHoles(PublisherId publisher) {
    boolean holed = of(publisher).stream().anyMatch(stream -> stream.row().at().degraded());
    if (holed != degraded.contains(publisher)) {
      Set<PublisherId> now = new TreeSet<>(degraded);
      if (holed) {
        now.add(publisher);
      } else {
        now.remove(publisher);
      }
      degraded = Collections.unmodifiableSet(now);
    }
  }

  @SuppressWarnings("NonAtomicOperationOnVolatileField") // one writer
  void foldHeld(int ref, Position place, @Nullable HeldRow row) {
    StreamState stream = numbered.get(ref);
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

  /** Key of a stream's row, whether there is one or not. */
  Bytes key(int ref) {
    StreamState known = numbered.find(ref);
    return known == null ? Rows.key(Rows.STREAM, ref) : known.key();
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

  /** The stream, null = nothing of it seen yet. */
  public @Nullable StreamState get(StreamId stream) {
    return numbered.find(stream);
  }

  /** All streams of a publisher. */
  public List<StreamState> of(PublisherId publisher) {
    return byPublisher.getOrDefault(publisher, List.of());
  }

  /** All streams. */
  public List<StreamState> all() {
    return numbered.all();
  }

  /** Streams with records held back. */
  public Collection<StreamState> waiting() {
    return waiting.values();
  }

  /** The number of the next stream. */
  public int next() {
    return numbered.next();
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
