// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import io.kvindex.streams.table.Streams;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Moves streams on: what a record does, and where its stream is after it. For one thread. */
final class StreamWriter {

  private final Streams streams;
  private final PartitionTable table;
  private final Applier applier;
  private final Lives lives;
  private final Counts counts;

  StreamWriter(PartitionTable table, Applier applier, Lives lives, Counts counts) {
    this.table = table;
    streams = table.streams();
    this.applier = applier;
    this.lives = lives;
    this.counts = counts;
  }

  /** The stream where the record finds it: at its start if the record opens a life. */
  StreamRow at(EventRecord record) {
    StreamState known = streams.get(record.stream());
    if (known != null
        && Sequencer.compareLives(known.row().incarnation(), record.incarnation()) == 0) {
      return known.row();
    }
    return atStart(record, known);
  }

  /**
   * The stream at the start of the record's life. What it lacked in former ones it still lacks as
   * long as blocks of theirs count: one of the records lost may have removed them.
   */
  StreamRow atStart(EventRecord record, @Nullable StreamState former) {
    StreamRow start = StreamRow.atStart(record.stream(), record.incarnation());
    if (former == null) {
      // What a former life left on media that outlive it may have been told where the log is cut.
      boolean mayLack = streams.isCut() && record.incarnation().life() > 0;
      return mayLack && !record.traits().persistentMedia().isEmpty() ? start.withGaps(1) : start;
    }
    start = start.seenAt(former.row().sourceOffset());
    return lives.keepsFormer(record)
        ? start.withGaps(former.row().gaps() + (former.held().isEmpty() ? 0 : 1))
        : start;
  }

  private int ref(EventRecord record) {
    StreamState known = streams.get(record.stream());
    return known == null ? streams.next() : known.ref();
  }

  /** Notes where the record's stream is, with all that is not committed yet. */
  StreamState moveTo(EventRecord record, StreamRow place) {
    move(ref(record), place);
    table.commit();
    return Objects.requireNonNull(streams.get(record.stream()));
  }

  /**
   * Applies a record whose turn it is.
   *
   * @param before its stream before it, with the holes there are
   * @param offset its offset in the events topic
   */
  void apply(EventRecord record, StreamRow before, long offset, long appendTimeMs) {
    int ref = ref(record);
    long gaps = applier.apply(record, before, appendTimeMs);
    move(
        ref,
        new StreamRow(
            record.stream(),
            record.incarnation(),
            record.position(),
            Math.max(before.sourceOffset(), offset), // what was held back came earlier
            record.sourceTimeMicros(),
            appendTimeMs,
            gaps,
            before.retells() && !record.endsRetelling(),
            false));
    StreamState known = streams.get(record.stream());
    StreamState.Held place = Held.place(record);
    if (known != null && known.held().containsKey(place)) {
      table.putLast(Held.key(ref, place), null);
    }
    table.commit();
    counts.record(Outcome.APPLIED, record.events().size());
  }

  /** Notes that a record waits for its predecessor. */
  StreamState hold(EventRecord record, StreamRow place, long offset, long appendTimeMs) {
    int ref = ref(record);
    move(ref, place);
    HeldRow row = new HeldRow(offset, appendTimeMs, EventRecordCodec.encode(record));
    table.putLast(Held.key(ref, Held.place(record)), row.encode());
    table.commit();
    counts.record(Outcome.HELD_BACK, record.events().size());
    return Objects.requireNonNull(streams.get(record.stream()));
  }

  private void move(int ref, StreamRow row) {
    table.putLast(RowKeys.ofId(RowKind.STREAM, ref), row.encode());
  }
}
