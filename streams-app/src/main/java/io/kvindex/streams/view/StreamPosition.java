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
 *     of any life, those that open one included, -1 = none yet. Never goes back, since it tells
 *     which of two tables knows more
 * @param sourceTimeMicros the engine's time on the last record, microseconds since the epoch
 * @param appendTimeMs the broker's time on it, milliseconds since the epoch
 * @param gaps holes since the stream was last complete
 * @param retells whether its life tells once more what was known before, and not all of that is
 *     visible
 * @param cut whether records of the log were found missing since it last went on: then it waits for
 *     no predecessor, which may have been one of them. Of no interest to readers
 */
public record StreamPosition(
    Incarnation incarnation,
    @Nullable Position last,
    long sourceOffset,
    long sourceTimeMicros,
    long appendTimeMs,
    long gaps,
    boolean retells,
    boolean cut) {

  /** Where a stream is whose records are all there, as far as it goes. */
  public StreamPosition(
      Incarnation incarnation,
      @Nullable Position last,
      long sourceOffset,
      long sourceTimeMicros,
      long appendTimeMs,
      long gaps,
      boolean retells) {
    this(incarnation, last, sourceOffset, sourceTimeMicros, appendTimeMs, gaps, retells, false);
  }

  /** That of a stream in a life of which nothing was applied yet. */
  public static StreamPosition atStart(Incarnation incarnation) {
    return new StreamPosition(incarnation, null, -1, 0, 0, 0, false);
  }

  private StreamPosition with(long offset, long holes, boolean again, boolean isCut) {
    return new StreamPosition(
        incarnation, last, offset, sourceTimeMicros, appendTimeMs, holes, again, isCut);
  }

  /** The same place with another number of gaps. */
  public StreamPosition withGaps(long holes) {
    return with(sourceOffset, holes, retells, cut);
  }

  /** The same place, learnt from another record of the log. */
  public StreamPosition seenAt(long offset) {
    return with(offset, gaps, retells, cut);
  }

  /** The same place in a life that tells once more what was known before. */
  public StreamPosition retelling() {
    return with(sourceOffset, gaps, true, cut);
  }

  /**
   * The same place after records of the log were found missing, any of which may have been of it.
   */
  public StreamPosition afterMissing() {
    return with(sourceOffset, gaps + 1, retells, true);
  }

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
