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

  /** Asked for with every query, so kept ready. */
  private volatile Set<PublisherId> degraded = Set.of();

  Streams() {}

  void load(int ref, byte[] value) {
    StreamState stream = StreamState.decode(ref, value);
    add(stream);
    show(stream);
  }

  private void add(StreamState stream) {
    numbered.add(stream.ref(), stream.id(), stream);
    byPublisher.computeIfAbsent(stream.id().publisher(), of -> new ArrayList<>(1)).add(stream);
  }

  /** The stream is there now; one that was not known gets a number. */
  StreamState move(StreamId id, StreamPosition at) {
    StreamState stream = numbered.find(id);
    if (stream == null) {
      stream = new StreamState(numbered.next(), id, at);
      add(stream);
    } else {
      stream.moveTo(at);
    }
    show(stream);
    return stream;
  }

  private void show(StreamState stream) {
    StreamPosition at = stream.at();
    // Before the position: who sees that asks for answers of this offset.
    if (at.sourceOffset() > appliedOffset) {
      appliedOffset = at.sourceOffset();
    }
    StreamPosition before = positions.put(stream.id(), at);
    if ((before != null && before.degraded()) != at.degraded()) {
      noteHoles(stream.id().publisher());
    }
  }

  private void noteHoles(PublisherId publisher) {
    boolean holed = of(publisher).stream().anyMatch(stream -> stream.at().degraded());
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

  void loadHeld(int ref, Position place, byte[] value) {
    hold(numbered.get(ref), place, HeldRow.decode(value));
  }

  /**
   * @param row null = it is held no more
   */
  @SuppressWarnings("NonAtomicOperationOnVolatileField") // one writer
  void hold(StreamState stream, Position place, @Nullable HeldRow row) {
    int before = stream.held().size();
    if (row == null) {
      stream.held().remove(place);
    } else {
      stream.held().put(place, row);
    }
    heldRecords += stream.held().size() - before;
    if (stream.held().isEmpty()) {
      waiting.remove(stream.ref());
    } else {
      waiting.put(stream.ref(), stream);
    }
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
