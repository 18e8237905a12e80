// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.sequence.Sequencer;
import io.kvindex.streams.sequence.Verdict;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Takes a partition's records in the order of the log and keeps its table: judges whose turn it is,
 * holds back what came early, applies, and deletes what died bit by bit. For the thread that owns
 * the task.
 */
public final class TableWriter {

  private static final int SWEPT_PER_RECORD = 64;

  private final PartitionTable table;
  private final RowBatch batch;
  private final HeldRecords held;
  private final Contents contents;
  private final Applier applier;
  private final Sweeper sweeper;
  private final Counts counts;
  private final Limits limits;

  /** Streams that have not gone on since records of the log were found missing. */
  private final Set<StreamId> cut = new HashSet<>();

  private boolean pastUnknown;

  /**
   * @param store the task's store, changelog included
   */
  public TableWriter(
      PartitionTable table, KeyValueStore<Bytes, byte[]> store, Counts counts, Limits limits) {
    this.table = table;
    this.counts = counts;
    this.limits = limits;
    contents = new Contents(table.knownHashes(), store, limits.unheldContents());
    batch = new RowBatch(table, store, contents::unheld, limits.rememberedBlocks());
    held = new HeldRecords(store, batch);
    applier =
        new Applier(table, batch, new Storing(table, batch, contents, counts, limits), counts);
    sweeper = new Sweeper(table, store, contents::unheld);
    List.copyOf(table.streams().waiting()).forEach(this::resume);
  }

  private void resume(StreamState stream) {
    for (StreamState.Held place : List.copyOf(stream.held().keySet())) {
      EventRecord record = held.get(stream, place);
      counts.taken(record == null ? 1 : record.events().size());
    }
    drain(stream);
  }

  /**
   * Says where the log begins, before its first record is taken. Where that is not at 0, retention
   * or choice has cut off what streams said before: nobody waits for a predecessor then that is not
   * there to be read, and a stream whose first record names one is degraded from the start.
   *
   * @param offset of the first record there was to read
   */
  public void startsAt(long offset) {
    pastUnknown = offset > 0 && isEmpty();
  }

  /** Whether nothing was ever applied. */
  public boolean isEmpty() {
    return table.streams().next() == 1;
  }

  /**
   * Takes the next record of the log.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it; decides how long others are held back
   */
  public void take(EventRecord record, long offset, long appendTimeMs) {
    counts.taken(record.events().size());
    if (applier.expire(appendTimeMs)) {
      commit();
    }
    Incarnation life = applier.life(record);
    if (Sequencer.compareLives(record.incarnation(), life) > 0) {
      applier.beginLife(record);
      commit();
      life = record.incarnation();
    }
    if (record.isOpening()) {
      open(record, life, offset);
    } else {
      place(record, life, offset, appendTimeMs);
    }
    releaseOverdue(appendTimeMs);
    table.streams().taken(offset);
    sweep(SWEPT_PER_RECORD);
  }

  /**
   * The record at that offset can not be read: nothing becomes of it, and it is dealt with.
   *
   * @param offset its offset in the events topic
   */
  public void passOver(long offset) {
    table.streams().taken(offset);
  }

  /**
   * Records of the log are gone that were never read. Any block may have been removed by one of
   * them, so all streams lack something until their next life, clear or complete replay. Nobody
   * waits for a predecessor that is not there to be read.
   */
  public void missedRecords() {
    List.copyOf(table.streams().waiting()).forEach(this::release);
    for (StreamState stream : List.copyOf(table.streams().all())) {
      batch.position(stream.ref(), stream.row().withGaps(stream.row().gaps() + 1));
      commit();
      cut.add(stream.row().stream());
    }
  }

  /** Its life has begun by now; what the stream waited for was of the one before. */
  private void open(EventRecord record, Incarnation life, long offset) {
    if (Sequencer.compareLives(record.incarnation(), life) < 0) {
      counts.record(Outcome.STALE_INCARNATION, record.events().size());
      return;
    }
    StreamState known = table.streams().get(record.stream());
    if (known != null
        && Sequencer.compareLives(known.row().incarnation(), record.incarnation()) == 0) {
      counts.record(Outcome.DUPLICATE, record.events().size());
      return;
    }
    applier.beginLife(record);
    StreamRow start = atStart(record, known).seenAt(offset);
    batch.position(streamRef(record), record.opensRetelling() ? start.retelling() : start);
    commit();
    drain(Objects.requireNonNull(table.streams().get(record.stream())));
    counts.record(Outcome.APPLIED, record.events().size());
  }

  private void place(EventRecord record, Incarnation life, long offset, long appendTimeMs) {
    StreamRow stream = stream(record);
    switch (Sequencer.judge(life, stream, record)) {
      case APPLY -> {
        cut.remove(record.stream());
        apply(record, stream, offset, appendTimeMs);
        drain(Objects.requireNonNull(table.streams().get(record.stream())));
      }
      case DUPLICATE -> {
        if (Protection.DEDUPE.isOff()) {
          applier.apply(record, stream, appendTimeMs);
          commit();
        }
        counts.record(Outcome.DUPLICATE, record.events().size());
      }
      case STALE_INCARNATION -> counts.record(Outcome.STALE_INCARNATION, record.events().size());
      case HOLD -> {
        if (cut.remove(record.stream())
            || pastUnknown && table.streams().get(record.stream()) == null) {
          counts.add(Outcome.GAP);
          apply(record, stream.withGaps(stream.gaps() + 1), offset, appendTimeMs);
        } else {
          hold(record, stream, offset, appendTimeMs);
        }
      }
    }
  }

  /**
   * As {@link #sweep}, while nothing else is to be done; also looks for what a former task left.
   */
  public boolean tidy(int rows) {
    boolean toReview = contents.review(rows, table.tables());
    return sweep(rows) || toReview;
  }

  /** Deletes up to {@code rows} rows of dead owners; whether more are left. */
  public boolean sweep(int rows) {
    contents.trim(batch, table.tables());
    commit();
    return sweeper.sweep(rows);
  }

  /** The stream where the record finds it: at its start if the record opens a life. */
  private StreamRow stream(EventRecord record) {
    StreamState known = table.streams().get(record.stream());
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
  private StreamRow atStart(EventRecord record, @Nullable StreamState former) {
    StreamRow start = StreamRow.atStart(record.stream(), record.incarnation());
    if (former != null) {
      start = start.seenAt(former.row().sourceOffset());
    }
    if (former == null || !applier.keepsFormer(record)) {
      return start;
    }
    return start.withGaps(former.row().gaps() + (former.held().isEmpty() ? 0 : 1));
  }

  private int streamRef(EventRecord record) {
    StreamState known = table.streams().get(record.stream());
    return known == null ? table.streams().next() : known.ref();
  }

  private void apply(EventRecord record, StreamRow before, long offset, long appendTimeMs) {
    int ref = streamRef(record);
    long gaps = applier.apply(record, before, appendTimeMs);
    batch.position(
        ref,
        new StreamRow(
            record.stream(),
            record.incarnation(),
            record.position(),
            Math.max(before.sourceOffset(), offset), // what was held back came earlier
            record.sourceTimeMicros(),
            appendTimeMs,
            gaps,
            before.retells() && !record.endsRetelling()));
    StreamState known = table.streams().get(record.stream());
    StreamState.Held place = HeldRecords.place(record);
    if (known != null && known.held().containsKey(place)) {
      held.remove(ref, place);
    }
    commit();
    counts.record(Outcome.APPLIED, record.events().size());
  }

  private void hold(EventRecord record, StreamRow before, long offset, long appendTimeMs) {
    int ref = streamRef(record);
    batch.position(ref, before);
    held.add(ref, record, offset, appendTimeMs);
    commit();
    counts.record(Outcome.HELD_BACK, record.events().size());
    StreamState stream = Objects.requireNonNull(table.streams().get(record.stream()));
    if (stream.held().size() > limits.heldPerStream()) {
      release(stream);
    }
  }

  /** Applies what is held back as far as it follows without a hole. */
  private void drain(StreamState stream) {
    while (!stream.held().isEmpty()) {
      EventRecord next = firstHeld(stream);
      if (next != null) {
        if (Sequencer.judge(applier.life(next), stream(next), next) == Verdict.HOLD) {
          return;
        }
        applyHeld(next, stream, stream.row());
      }
    }
  }

  /**
   * The held record whose turn is nearest, null if the first one turned out to be no use any more:
   * it is gone then.
   */
  private @Nullable EventRecord firstHeld(StreamState stream) {
    StreamState.Held first = stream.held().firstKey();
    EventRecord next = held.get(stream, first);
    Verdict verdict =
        next == null ? Verdict.DUPLICATE : Sequencer.judge(applier.life(next), stream(next), next);
    if (next != null && (verdict == Verdict.APPLY || verdict == Verdict.HOLD)) {
      return next;
    }
    held.remove(stream.ref(), first);
    commit();
    counts.record(
        verdict == Verdict.STALE_INCARNATION ? Outcome.STALE_INCARNATION : Outcome.DUPLICATE,
        next == null ? 1 : next.events().size());
    return null;
  }

  private void applyHeld(EventRecord next, StreamState stream, StreamRow before) {
    HeldRow row = Objects.requireNonNull(held.row(stream, HeldRecords.place(next)));
    apply(next, before, row.sourceOffset(), row.appendTimeMs());
  }

  /** Waiting has its bounds: what is held longest is applied, the hole before it is a gap. */
  private void releaseOverdue(long nowMs) {
    if (table.streams().waiting().isEmpty()) {
      return;
    }
    for (StreamState stream : List.copyOf(table.streams().waiting())) {
      if (nowMs - stream.heldSinceMs() > limits.heldFor().toMillis()) {
        release(stream);
      }
    }
  }

  private void release(StreamState stream) {
    EventRecord next = null;
    // Records of a former life may wait in front: they are dropped, whatever the hole.
    while (next == null && !stream.held().isEmpty()) {
      next = firstHeld(stream);
    }
    if (next != null) {
      counts.add(Outcome.GAP);
      applyHeld(next, stream, stream.row().withGaps(stream.row().gaps() + 1));
    }
    drain(stream);
  }

  private void commit() {
    batch.commit();
    contents.committed();
  }
}
