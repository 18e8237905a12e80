// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Records that can not be read, by topic and reason. The running table leaves them out too, but its
 * counters are gone when somebody asks for the past. For one thread.
 */
final class LeftOut {

  /** Why a record says nothing. */
  enum Reason {
    NO_VALUE("without a value"),
    MALFORMED("malformed or of a newer version"),
    NO_PUBLISHER("with a key that names no publisher");

    private final String text;

    Reason(String text) {
      this.text = text;
    }
  }

  private static final class Tally {
    private final String first;
    private long count;

    Tally(String first) {
      this.first = first;
    }
  }

  private final Map<String, Map<Reason, Tally>> byTopic = new TreeMap<>();

  /** Reads an event record; null = it can not be read and is counted. */
  @Nullable EventRecord event(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    if (value == null) {
      add(Reason.NO_VALUE, record, null);
      return null;
    }
    try {
      return EventRecordCodec.decode(value);
    } catch (MalformedRecordException e) {
      add(Reason.MALFORMED, record, e.getMessage());
      return null;
    }
  }

  /**
   * Counts one.
   *
   * @param problem more than the reason says, null = nothing
   */
  void add(Reason reason, ConsumerRecord<byte[], byte[]> record, @Nullable String problem) {
    byTopic
        .computeIfAbsent(record.topic(), topic -> new EnumMap<>(Reason.class))
        .computeIfAbsent(reason, r -> new Tally(place(record, problem)))
        .count++;
  }

  private static String place(ConsumerRecord<byte[], byte[]> record, @Nullable String problem) {
    String at = "offset " + record.offset() + " of partition " + record.partition();
    return problem == null ? at : at + ": " + problem;
  }

  /** A line for each topic and reason; none if all could be read. */
  void tell(PrintWriter notes) {
    byTopic.forEach(
        (topic, reasons) ->
            reasons.forEach(
                (reason, tally) ->
                    notes.printf(
                        "left out of %s: %d %s, the first at %s%n",
                        topic, tally.count, reason.text, tally.first)));
  }
}
