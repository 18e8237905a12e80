// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.follow.BatchDecoder.Decoded;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.bridge.produce.RecordSplitter;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The records of one batch.
 *
 * <p>An engine's batch is a record of the publisher's own stream, numbered by its ZMQ sequence.
 * Where events have streams and numbers of their own, each event is a record there, and the
 * publisher's own stream only says that the batch is complete, or what is missing before it: a hole
 * is judged by the ZMQ sequence alone, as publishers count over all their streams, and has no
 * number in any of them.
 */
final class BatchRecords {

  private final Registration registration;
  private final SourceTraits traits;
  private final Incarnation incarnation;
  private final RecordSplitter splitter;
  private final long sequence;
  private final @Nullable Long after;
  private final long sourceMicros;
  private final List<EventRecord> records = new ArrayList<>(2);
  private final Map<String, Long> ids = new HashMap<>(0);

  /**
   * @param traits what the log has to know of the publisher by now
   * @param after sequence of the batch before it, null = none in this life
   */
  BatchRecords(
      Registration registration,
      SourceTraits traits,
      Incarnation incarnation,
      RecordSplitter splitter,
      long sequence,
      @Nullable Long after,
      long sourceMicros) {
    this.registration = registration;
    this.traits = traits;
    this.incarnation = incarnation;
    this.splitter = splitter;
    this.sequence = sequence;
    this.after = after;
    this.sourceMicros = sourceMicros;
  }

  /** In the order they are to be sent. */
  List<EventRecord> all() {
    return records;
  }

  /** Last number by stream. */
  Map<String, Long> ids() {
    return ids;
  }

  /** A batch of the publisher's own stream. */
  BatchRecords whole(List<KvEvent> events) {
    List<List<KvEvent>> parts = splitter.split(events);
    for (int i = 0; i < parts.size(); i++) {
      own(i, i == parts.size() - 1, parts.get(i));
    }
    return this;
  }

  /**
   * A batch whose events have streams of their own.
   *
   * @param first what is to be said of the publisher before them
   * @param session knows the number before each one
   */
  BatchRecords numbered(List<KvEvent> first, Decoded decoded, SendSession session) {
    if (!first.isEmpty()) {
      own(0, false, first);
    }
    for (int i = 0; i < decoded.events().size(); i++) {
      StreamNumber number = decoded.numbers().get(i);
      add(number, decoded.events().get(i), session.sentId(number.sub()));
      session.sending(number.sub(), number.eventId());
      ids.put(number.sub(), number.eventId());
    }
    own(first.isEmpty() ? 0 : 1, true, List.of());
    return this;
  }

  private void add(StreamNumber number, KvEvent event, @Nullable Long before) {
    List<List<KvEvent>> parts = splitter.split(List.of(event));
    for (int i = 0; i < parts.size(); i++) {
      record(
          number.sub(),
          new Position(number.eventId(), i, i == parts.size() - 1),
          before,
          parts.get(i));
    }
  }

  private void own(int part, boolean last, List<KvEvent> events) {
    record("", new Position(sequence, part, last), after, events);
  }

  private void record(String sub, Position position, @Nullable Long before, List<KvEvent> events) {
    records.add(
        new EventRecord(
            registration.table(),
            new StreamId(registration.publisher(), sub),
            registration.type(),
            traits,
            incarnation,
            position,
            before,
            sourceMicros,
            events));
  }
}
