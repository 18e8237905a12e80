// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Incarnation;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.row.LogRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import java.util.List;
import java.util.Objects;

/**
 * Takes a partition's records in the order of the log and keeps its table: judges whose turn it is,
 * holds back what came early, applies, and deletes what died bit by bit. For the thread that owns
 * the task.
 */
public final class Fold {

  private final PartitionTable table;
  private final OwnerBook book;
  private final Lives lives;
  private final Applier applier;
  private final StreamWriter writer;
  private final Waiting waiting;
  private final Counts counts;
  private final Limits limits;

  /**
   * @param table what it folds into
   * @param counts takes what became of records
   */
  public Fold(PartitionTable table, Counts counts, Limits limits) {
    this.table = table;
    this.counts = counts;
    this.limits = limits;
    book = new OwnerBook(table);
    RowRefs refs = new RowRefs(table);
    lives = new Lives(table, book, refs);
    CopyJudge judge = new CopyJudge(table, limits);
    Storing storing = new Storing(table, judge, counts, limits);
    applier = new Applier(table, storing, counts, book, refs, lives, judge);
    writer = new StreamWriter(table, applier, lives, counts);
    waiting = new Waiting(table, lives, writer, counts, limits.heldFor());
    waiting.resume();
  }

  /**
   * Says where the log begins, before its first record is taken. Where that is not at 0, retention
   * or choice has cut off what streams said before: nobody waits for a predecessor then that is not
   * there to be read, and a stream whose first record names one is degraded from the start.
   *
   * @param offset of the first record there was to read
   */
  public void startsAt(long offset) {
    if (offset > 0 && isEmpty()) {
      noteCut();
    }
  }

  /** A row, since whoever goes on with this table has to know it as well. */
  private void noteCut() {
    if (!table.streams().isCut()) {
      table.put(LogRow.key(LogRow.CUT), LogRow.cut());
    }
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
    book.expire(appendTimeMs);
    Incarnation life = lives.of(record);
    if (Sequencer.compareLives(record.incarnation(), life) > 0) {
      lives.begin(record);
      table.commit();
      life = record.incarnation();
    }
    if (record.isOpening()) {
      open(record, life, offset);
    } else {
      place(record, life, offset, appendTimeMs);
    }
    waiting.releaseOverdue(appendTimeMs, offset);
    tidy();
    table.streams().taken(offset);
  }

  /**
   * A record of the partition is left out that has nothing to do with what is wanted of the table:
   * only the log's time goes on with it, and ends what it ends.
   *
   * @param appendTimeMs the broker's time on it
   */
  public void leaveOut(long appendTimeMs) {
    book.expire(appendTimeMs);
    waiting.releaseOverdue(appendTimeMs, table.streams().takenOffset());
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
    noteCut();
    long last = table.streams().takenOffset();
    List.copyOf(table.streams().waiting()).forEach(stream -> waiting.release(stream, last));
    for (StreamState stream : List.copyOf(table.streams().all())) {
      table.put(RowKeys.ofId(RowKind.STREAM, stream.ref()), stream.row().afterMissing().encode());
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
    lives.begin(record);
    StreamRow start = writer.atStart(record, known).seenAt(offset);
    waiting.drain(
        writer.moveTo(record, record.opensRetelling() ? start.retelling() : start), offset);
    counts.record(Outcome.APPLIED, record.events().size());
  }

  private void place(EventRecord record, Incarnation life, long offset, long appendTimeMs) {
    StreamRow stream = writer.at(record);
    switch (Sequencer.judge(life, stream, record)) {
      case APPLY -> {
        writer.apply(record, stream, offset, appendTimeMs);
        waiting.drain(Objects.requireNonNull(table.streams().get(record.stream())), offset);
      }
      case DUPLICATE -> {
        if (Protection.DEDUPE.isOff()) {
          applier.apply(record, stream, appendTimeMs);
          table.commit();
        }
        counts.record(Outcome.DUPLICATE, record.events().size());
      }
      case STALE_INCARNATION -> counts.record(Outcome.STALE_INCARNATION, record.events().size());
      case HOLD -> {
        boolean unknown = table.streams().get(record.stream()) == null;
        if (stream.cut() || unknown && table.streams().isCut()) {
          counts.add(Outcome.GAP);
          writer.apply(record, stream.withGaps(stream.gaps() + 1), offset, appendTimeMs);
        } else {
          hold(record, stream, offset, appendTimeMs);
        }
      }
    }
  }

  /** How much is done for each record, and nothing else, decides what is forgotten when. */
  private void tidy() {
    table.blocks().trim(limits.unheldContents());
    table.blocks().sweep(holder -> table.put(RowKeys.ofId(RowKind.OWNER, holder.id()), null));
  }

  private void hold(EventRecord record, StreamRow before, long offset, long appendTimeMs) {
    StreamState stream = writer.hold(record, before, offset, appendTimeMs);
    if (stream.held().size() > limits.heldPerStream()) {
      waiting.release(stream, offset);
    }
  }
}
