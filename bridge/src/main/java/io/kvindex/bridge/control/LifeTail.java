// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.produce.BatchMark;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.LogPosition;
import io.kvindex.model.progress.PublisherState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the events log says of a publisher's newest life behind its progress: batches that Kafka
 * acknowledged and nobody wrote down. Only such are taken as follow each other without a hole, as a
 * bridge that met a failed send left some behind that it sent again. One thread.
 */
final class LifeTail {

  private final KnownProgress known;
  private final long from;
  private final boolean cut;
  private final Map<String, Long> ids;
  private final List<KvEvent> open = new ArrayList<>();
  private @Nullable Long last;
  private long micros;
  private long clears;
  private long fingerprint;
  private List<GroupSpec> groups;
  private boolean degraded;
  private boolean broken;
  private int nextPart;
  private int batches;

  /**
   * @param from offset it is read on from
   * @param cut whether the log begins behind that: what lies between is not known any more
   */
  LifeTail(KnownProgress known, long from, boolean cut) {
    BridgeProgress progress = known.progress();
    this.known = known;
    this.from = from;
    this.cut = cut;
    this.ids = new HashMap<>(progress.lastIds());
    this.last = progress.lastSequence();
    this.micros = progress.lastTimeMicros();
    this.clears = progress.clears();
    this.fingerprint = progress.log() == null ? 0 : progress.log().fingerprint();
    this.groups = progress.groups();
    this.degraded = known.isDegraded();
  }

  /** Takes a record of one of the publisher's streams, in the order of the log. */
  void note(EventRecord record, BatchMark mark, long offset) {
    boolean ofLife =
        record.incarnation().generation() == known.progress().generation()
            && record.incarnation().life() == known.life();
    if (offset < from || !ofLife || record.isOpening() || broken) {
      return;
    }
    if (record.stream().sub().isEmpty()) {
      noteOwn(record, mark);
    } else {
      noteNumbered(record);
    }
  }

  private void noteOwn(EventRecord record, BatchMark mark) {
    long sequence = record.position().eventId();
    boolean follows = Objects.equals(record.after(), last) || cut && batches == 0;
    if (!follows || record.position().part() != 0 && record.position().part() != nextPart) {
      return; // sent twice, or of a batch that was sent again as a whole
    }
    if (record.position().part() == 0) {
      open.clear();
    }
    open.addAll(record.events());
    nextPart = record.position().part() + 1;
    if (!record.position().last()) {
      return;
    }
    nextPart = 0;
    batches++;
    last = sequence;
    micros = record.sourceTimeMicros();
    fingerprint = mark.fingerprint();
    groups = mark.groups() == null ? groups : mark.groups();
    ids.put(record.stream().key(), sequence);
    noteEvents(record.type());
    open.clear();
  }

  private void noteEvents(SourceType type) {
    clears += EventLabel.count(open).getOrDefault(EventLabel.CLEARED, 0L);
    KvEvent before = null;
    for (KvEvent event : open) {
      if (event instanceof KvEvent.Gap) {
        degraded = true;
      } else if (event instanceof KvEvent.Cleared) {
        clears -= before instanceof KvEvent.Gap ? 1 : 0; // the bridge's own, under gap-policy reset
        degraded &= type == SourceType.KV_EVENTS; // a stream's clear leaves the others as they were
      }
      before = event;
    }
  }

  /** A number that was lost on its way must not look taken: what follows it is sent again. */
  private void noteNumbered(EventRecord record) {
    Long before = ids.get(record.stream().key());
    long id = record.position().eventId();
    boolean again = before != null && Long.compareUnsigned(id, before) <= 0;
    if (again || !record.position().last()) {
      return;
    }
    broken = !Objects.equals(record.after(), before) && !(cut && batches == 0);
    if (!broken) {
      ids.put(record.stream().key(), id);
      clears += EventLabel.count(record.events()).getOrDefault(EventLabel.CLEARED, 0L);
    }
  }

  /** Batches found. */
  int batches() {
    return batches;
  }

  /**
   * The progress that whoever wrote those batches would have written next.
   *
   * @param end up to where the log was read: behind it comes what is sent from now on, also where
   *     the log lost its end
   */
  KnownProgress progress(long end) {
    BridgeProgress p = known.progress();
    Map<String, Long> complete = last == null ? Map.of() : ids;
    return new KnownProgress(
        new BridgeProgress(
            p.publisher(),
            p.table(),
            p.type(),
            p.generation(),
            p.life(),
            clears,
            last,
            micros,
            state(p.state()),
            p.lastError(),
            p.counters(),
            complete,
            groups,
            p.connection(),
            p.retellsUntil(),
            new LogPosition(end, fingerprint)),
        known.life());
  }

  private PublisherState state(PublisherState before) {
    if (degraded) {
      return PublisherState.DEGRADED;
    }
    return before == PublisherState.DEGRADED ? PublisherState.ACTIVE : before;
  }
}
