// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One value of the events topic: one ZMQ batch of a publisher (or one part of a large one),
 * complete in itself so that a replay needs nothing from the side.
 *
 * @param table which table the blocks belong to; decides the partition
 * @param stream unit of ordering; the Kafka key
 * @param type kind of publisher
 * @param traits what of its registration decides how its events are applied
 * @param incarnation which life of the publisher speaks
 * @param position place of this record in its stream
 * @param after event id of the last record acknowledged on this stream before; null at the start of
 *     a life
 * @param sourceTimeMicros time the engine stamped on the batch, microseconds since the epoch; for
 *     information, never for ordering
 * @param events what happened, in order; empty where the batch held nothing usable
 */
public record EventRecord(
    TableId table,
    StreamId stream,
    SourceType type,
    SourceTraits traits,
    Incarnation incarnation,
    Position position,
    @Nullable Long after,
    long sourceTimeMicros,
    List<KvEvent> events) {

  public EventRecord {
    Objects.requireNonNull(table);
    Objects.requireNonNull(stream);
    events = List.copyOf(events);
  }

  /**
   * A record that does nothing but fence: it says that a life began, and takes no place in the
   * stream, so that the life's first batch is still to come.
   *
   * @param retells see {@link KvEvent.Begun#retells}
   */
  public static EventRecord opening(
      TableId table,
      StreamId stream,
      SourceType type,
      SourceTraits traits,
      Incarnation incarnation,
      boolean retells) {
    return new EventRecord(
        table,
        stream,
        type,
        traits,
        incarnation,
        Position.whole(0),
        null,
        0,
        List.of(new KvEvent.Begun(retells)));
  }

  /** The same record at the same place, of which nothing is known but that it is lost. */
  public EventRecord asGap() {
    return new EventRecord(
        table,
        stream,
        type,
        traits,
        incarnation,
        position,
        after,
        sourceTimeMicros,
        List.of(new KvEvent.Gap(position.eventId(), position.eventId())));
  }

  /** Whether it was made by {@link #opening}. */
  public boolean isOpening() {
    return events.size() == 1 && events.get(0) instanceof KvEvent.Begun;
  }

  /** Whether it opens a life that tells once more what the index lacked. */
  public boolean opensRetelling() {
    return events.size() == 1 && events.get(0) instanceof KvEvent.Begun begun && begun.retells();
  }

  /** Whether all is told with it that its life was to tell once more. */
  public boolean endsRetelling() {
    for (KvEvent event : events) {
      if (event instanceof KvEvent.Retold) {
        return true;
      }
    }
    return false;
  }

  /**
   * Place of a record in its stream.
   *
   * @param eventId the publisher's number for the batch, unsigned
   * @param part 0, 1, 2... where a batch was split
   * @param last whether this is the batch's last part
   */
  public record Position(long eventId, int part, boolean last) {
    /** A batch that was not split. */
    public static Position whole(long eventId) {
      return new Position(eventId, 0, true);
    }
  }
}
