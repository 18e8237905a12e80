// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.normalise.NormalisedBatch;
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
import java.util.EnumMap;
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

  /** Streams of a publisher told apart; their numbers travel with each progress record. */
  static final int MAX_STREAMS = 1_000;

  /** Characters of their keys together, as a progress record has to fit Kafka's limit of 1 MB. */
  private static final int MAX_KEY_CHARS = 256 << 10;

  private final Registration registration;
  private final SourceTraits traits;
  private final Incarnation incarnation;
  private final RecordSplitter splitter;
  private final long sequence;
  private final @Nullable Long after;
  private final long sourceMicros;
  private final List<EventRecord> records = new ArrayList<>(2);
  private final Map<String, Long> ids = new HashMap<>(0);
  private Map<SkipReason, Integer> skipped = Map.of();

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

  /** Numbered events left out, by reason. */
  Map<SkipReason, Integer> skipped() {
    return skipped;
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
   * A batch whose events have streams of their own. Those whose number is not beyond the last one
   * of their stream were taken before and are left out, see {@link #skipped}.
   *
   * @param first what is to be said of the publisher before them
   * @param session knows the last number of each stream
   * @return the events that are not left out
   */
  List<KvEvent> numbered(List<KvEvent> first, NormalisedBatch batch, SendSession session) {
    if (!first.isEmpty()) {
      own(0, false, first);
    }
    skipped = new EnumMap<>(SkipReason.class);
    Map<String, Long> sent = session.sentIds();
    List<KvEvent> fresh = new ArrayList<>(batch.events().size());
    for (int i = 0; i < batch.events().size(); i++) {
      StreamNumber number = batch.numbers().get(i);
      Long before = sent.get(number.sub());
      SkipReason reason = reasonToSkip(number, before, sent);
      if (reason != null) {
        skipped.merge(reason, 1, Integer::sum);
        continue;
      }
      sent.put(number.sub(), number.eventId());
      ids.put(number.sub(), number.eventId());
      fresh.add(batch.events().get(i));
      add(number, batch.events().get(i), before);
    }
    own(first.isEmpty() ? 0 : 1, true, List.of());
    return fresh;
  }

  private @Nullable SkipReason reasonToSkip(
      StreamNumber number, @Nullable Long before, Map<String, Long> sent) {
    if (before != null) {
      boolean again = Long.compareUnsigned(number.eventId(), before) <= 0;
      return again ? SkipReason.DUPLICATE_EVENT : null;
    } else if (sent.size() >= MAX_STREAMS) {
      return SkipReason.STREAM_LIMIT;
    }
    // Each stream's key repeats the publisher's.
    long chars = (sent.size() + 1L) * (registration.publisher().key().length() + 1);
    for (String sub : sent.keySet()) {
      chars += sub.length();
    }
    return chars + number.sub().length() <= MAX_KEY_CHARS ? null : SkipReason.STREAM_LIMIT;
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
