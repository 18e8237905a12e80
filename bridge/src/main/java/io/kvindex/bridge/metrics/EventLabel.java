// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import io.kvindex.model.event.KvEvent;
import java.util.EnumMap;
import java.util.Map;

/** Kinds of events of the log, as they are counted. */
public enum EventLabel implements Labelled {
  STORED(KvEvent.Stored.class),
  REMOVED(KvEvent.Removed.class),
  CLEARED(KvEvent.Cleared.class),
  /** What hashes mean, from a publisher whose lower tier a pool keeps account of. */
  TAUGHT(KvEvent.Taught.class),
  /** Ours: batches are missing. */
  GAP(KvEvent.Gap.class),
  /** Ours: a publisher is unregistered. */
  RETIRED(KvEvent.Retired.class),
  /** Ours: a life begins. */
  BEGUN(KvEvent.Begun.class),
  /** Ours: what had been lost is told again. */
  RETOLD(KvEvent.Retold.class);

  private static final EventLabel[] ALL = values();
  private final Class<? extends KvEvent> type;

  EventLabel(Class<? extends KvEvent> type) {
    this.type = type;
  }

  /** How many there are of each kind. */
  public static Map<EventLabel, Long> count(Iterable<KvEvent> events) {
    Map<EventLabel, Long> counts = new EnumMap<>(EventLabel.class);
    events.forEach(event -> counts.merge(of(event), 1L, Long::sum));
    return counts;
  }

  private static EventLabel of(KvEvent event) {
    for (EventLabel label : ALL) {
      if (label.type == event.getClass()) {
        return label;
      }
    }
    throw new IllegalStateException("BUG: nothing counts " + event);
  }

  /** Whether a publisher said it, not the bridge. */
  public boolean isPublishers() {
    return this == STORED || this == REMOVED || this == CLEARED || this == TAUGHT;
  }
}
