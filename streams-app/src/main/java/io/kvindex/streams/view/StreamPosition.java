// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord.Position;
import org.jspecify.annotations.Nullable;

/**
 * How far a stream is visible in the index.
 *
 * @param incarnation the life the stream is in
 * @param last last record applied in that life, null = none yet
 * @param sourceOffset newest offset in the events topic of a record of the stream that is visible,
 *     of any life, -1 = none yet
 * @param sourceTimeMicros the engine's time on the last record, microseconds since the epoch
 * @param appendTimeMs the broker's time on it, milliseconds since the epoch
 * @param gaps holes since the stream was last complete
 * @param retells whether its life tells once more what was known before, and not all of that is
 *     visible
 */
public record StreamPosition(
    Incarnation incarnation,
    @Nullable Position last,
    long sourceOffset,
    long sourceTimeMicros,
    long appendTimeMs,
    long gaps,
    boolean retells) {

  /** Whether answers about this publisher may be incomplete or stale. */
  public boolean degraded() {
    return gaps > 0 || retells;
  }

  /** Event id of the newest batch of which all parts are visible, unsigned; null = none is. */
  public @Nullable Long lastWhole() {
    if (last == null || !last.last() && last.eventId() == 0) {
      return null;
    }
    return last.last() ? last.eventId() : last.eventId() - 1;
  }

  /** Whether the record with that event id, all parts of it, is visible. */
  public boolean covers(long eventId) {
    if (last == null) {
      return false;
    }
    int order = Long.compareUnsigned(last.eventId(), eventId);
    return order > 0 || order == 0 && last.last();
  }
}
