// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import io.kvindex.model.event.KvEvent;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Kinds of events of the log, as they are counted. */
public enum EventLabel {
  STORED,
  REMOVED,
  CLEARED,
  /** What hashes mean, from a publisher whose lower tier a pool keeps account of. */
  TAUGHT,
  /** Ours: batches are missing. */
  GAP,
  /** Ours: a publisher is unregistered. */
  RETIRED,
  /** Ours: a life begins. */
  BEGUN,
  /** Ours: what had been lost is told again. */
  RETOLD;

  /** How many there are of each kind. */
  public static Map<EventLabel, Long> count(Iterable<KvEvent> events) {
    Counting counting = new Counting();
    events.forEach(event -> event.accept(counting));
    return counting.counts;
  }

  /** Name in metrics and progress records. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether a publisher said it, not the bridge. */
  public boolean isPublishers() {
    return this == STORED || this == REMOVED || this == CLEARED || this == TAUGHT;
  }

  private static final class Counting implements KvEvent.Visitor {
    private final Map<EventLabel, Long> counts = new EnumMap<>(EventLabel.class);

    private void add(EventLabel kind) {
      counts.merge(kind, 1L, Long::sum);
    }

    @Override
    public void stored(KvEvent.Stored event) {
      add(STORED);
    }

    @Override
    public void removed(KvEvent.Removed event) {
      add(REMOVED);
    }

    @Override
    public void cleared(KvEvent.Cleared event) {
      add(CLEARED);
    }

    @Override
    public void gap(KvEvent.Gap event) {
      add(GAP);
    }

    @Override
    public void retired(KvEvent.Retired event) {
      add(RETIRED);
    }

    @Override
    public void taught(KvEvent.Taught event) {
      add(TAUGHT);
    }

    @Override
    public void begun(KvEvent.Begun event) {
      add(BEGUN);
    }

    @Override
    public void retold(KvEvent.Retold event) {
      add(RETOLD);
    }
  }
}
