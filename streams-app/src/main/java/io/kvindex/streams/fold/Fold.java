// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Incarnation;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.table.HeldRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import io.kvindex.streams.table.Streams;
import io.kvindex.streams.view.StreamPosition;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes a partition's records in the order of the log and keeps its table: judges whose turn it is,
 * holds back what came early, applies, and deletes what died bit by bit. For the thread that owns
 * the task.
 */
public final class Fold {

  private final PartitionTable table;
  private final Streams streams;
  private final Lives lives;
  private final Applier applier;
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
    streams = table.streams();
    lives = new Lives(table);
    applier = new Applier(table, lives, counts, limits);
    resume();
  }

  /** Counts records that the checkpoint has as held back, and applies those whose turn has come. */
  private void resume() {
    for (StreamState stream : List.copyOf(streams.waiting())) {
      stream.held().values().forEach(row -> counts.taken(decode(row).events().size()));
      drain(stream, streams.takenOffset(), false);
    }
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
      table.putCut();
    }
  }

  /** Whether nothing was ever applied. */
  public boolean isEmpty() {
    return streams.all().isEmpty();
  }

  /**
   * Takes the next record of the log.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it; decides how long others are held back
   */
  public void take(EventRecord record, long offset, long appendTimeMs) {
    counts.taken(record.events().size());
    lives.expire(appendTimeMs);
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
    releaseOverdue(appendTimeMs, offset);
    // How much is done for each record, and nothing else, decides what is forgotten when.
    table.blocks().trim(limits.unheldContents());
    table.owners().sweep();
    streams.taken(offset);
  }

  /**
   * A record of the partition is left out that has nothing to do with what is wanted of the table:
   * only the log's time goes on with it, and ends what it ends.
   *
   * @param appendTimeMs the broker's time on it
   */
  public void leaveOut(long appendTimeMs) {
    lives.expire(appendTimeMs);
    releaseOverdue(appendTimeMs, streams.takenOffset());
  }

  /**
   * The record at that offset can not be read: nothing becomes of it, and it is dealt with.
   *
   * @param offset its offset in the events topic
   */
  public void passOver(long offset) {
    streams.taken(offset);
  }

  /**
   * Records of the log are gone that were never read. Any block may have been removed by one of
   * them, so all streams lack something until their next life, clear or complete replay. Nobody
   * waits for a predecessor that is not there to be read.
   */
  public void missedRecords() {
    table.putCut();
    long last = streams.takenOffset();
    List.copyOf(streams.waiting()).forEach(stream -> drain(stream, last, true));
    streams.all().forEach(stream -> table.putLast(stream.id(), stream.at().afterMissing()));
    table.commit();
  }

  // ------------------------------------------------------------------- one record

  /** Its life has begun by now; what the stream waited for was of the one before. */
  private void open(EventRecord record, Incarnation life, long offset) {
    if (Sequencer.compareLives(record.incarnation(), life) < 0) {
      counts.record(Outcome.STALE_INCARNATION, record.events().size());
      return;
    }
    StreamState known = streams.get(record.stream());
    if (known != null && isInLifeOf(record, known)) {
      counts.record(Outcome.DUPLICATE, record.events().size());
      return;
    }
    lives.begin(record);
    StreamPosition start = atStart(record, known).seenAt(offset);
    table.putLast(record.stream(), record.opensRetelling() ? start.retelling() : start);
    table.commit();
    drain(stream(record), offset, false);
    counts.record(Outcome.APPLIED, record.events().size());
  }

  private void place(EventRecord record, Incarnation life, long offset, long appendTimeMs) {
    StreamPosition before = before(record);
    Outcome outcome = Sequencer.judge(life, before, record);
    if (outcome == Outcome.HELD_BACK) {
      boolean unknown = streams.get(record.stream()) == null;
      if (before.cut() || unknown && table.isCut()) {
        counts.add(Outcome.GAP);
        apply(record, withOneGapMore(before), offset, appendTimeMs);
      } else {
        hold(record, before, offset, appendTimeMs);
      }
    } else if (outcome == Outcome.APPLIED) {
      apply(record, before, offset, appendTimeMs);
      drain(stream(record), offset, false);
    } else {
      if (outcome == Outcome.DUPLICATE && Protection.DEDUPE.isOff()) {
        applier.apply(record, before, appendTimeMs);
        table.commit();
      }
      counts.record(outcome, record.events().size());
    }
  }

  private static boolean isInLifeOf(EventRecord record, StreamState stream) {
    return Sequencer.compareLives(stream.at().incarnation(), record.incarnation()) == 0;
  }

  private static StreamPosition withOneGapMore(StreamPosition stream) {
    return stream.withGaps(stream.gaps() + 1);
  }

  /** The stream where the record finds it: at its start if the record opens a life. */
  private StreamPosition before(EventRecord record) {
    StreamState known = streams.get(record.stream());
    return known != null && isInLifeOf(record, known) ? known.at() : atStart(record, known);
  }

  /**
   * The stream at the start of the record's life. What it lacked in former ones it still lacks as
   * long as blocks of theirs count: one of the records lost may have removed them.
   */
  private StreamPosition atStart(EventRecord record, @Nullable StreamState former) {
    StreamPosition start = StreamPosition.atStart(record.incarnation());
    if (former == null) {
      // What a former life left on media that outlive it may have been told where the log is cut.
      boolean mayLack = table.isCut() && record.incarnation().life() > 0;
      return mayLack && !record.traits().persistentMedia().isEmpty() ? start.withGaps(1) : start;
    }
    StreamPosition at = former.at();
    start = start.seenAt(at.sourceOffset());
    return lives.keepsFormer(record)
        ? start.withGaps(at.gaps() + (former.held().isEmpty() ? 0 : 1))
        : start;
  }

  private StreamState stream(EventRecord record) {
    return Objects.requireNonNull(streams.get(record.stream()));
  }

  /**
   * Applies a record whose turn it is.
   *
   * @param before its stream before it, with the holes there are
   * @param offset its offset in the events topic
   */
  private void apply(EventRecord record, StreamPosition before, long offset, long appendTimeMs) {
    long gaps = applier.apply(record, before, appendTimeMs);
    table.putLast(
        record.stream(),
        new StreamPosition(
            record.incarnation(),
            record.position(),
            Math.max(before.sourceOffset(), offset), // what was held back came earlier
            record.sourceTimeMicros(),
            appendTimeMs,
            gaps,
            before.retells() && !record.endsRetelling()));
    StreamState known = streams.get(record.stream());
    if (known != null && known.held().containsKey(record.position())) {
      table.putLast(record.stream(), record.position(), null);
    }
    table.commit();
    counts.record(Outcome.APPLIED, record.events().size());
  }

  // ------------------------------------------------------------------- records that came early

  /** The record waits for its predecessor; if too many do, the oldest is applied with a gap. */
  private void hold(EventRecord record, StreamPosition before, long offset, long appendTimeMs) {
    table.putLast(record.stream(), before);
    HeldRow row = new HeldRow(offset, appendTimeMs, EventRecordCodec.encode(record));
    table.putLast(record.stream(), record.position(), row);
    table.commit();
    counts.record(Outcome.HELD_BACK, record.events().size());
    StreamState stream = stream(record);
    if (stream.held().size() > limits.heldPerStream()) {
      drain(stream, offset, true);
    }
  }

  private static EventRecord decode(HeldRow row) {
    return EventRecordCodec.decode(row.record());
  }

  /**
   * Applies what is held back as far as it follows without a hole; what turned out to be no use any
   * more is gone then.
   *
   * @param byOffset of the record that ended the wait, in the events topic: who has applied less
   *     does not show what waited
   * @param anyway whether the first of them is applied even so, with a gap before it
   */
  private void drain(StreamState stream, long byOffset, boolean anyway) {
    boolean overdue = anyway;
    while (!stream.held().isEmpty()) {
      Map.Entry<Position, HeldRow> first = stream.held().firstEntry();
      HeldRow row = first.getValue();
      EventRecord next = decode(row);
      Outcome outcome = Sequencer.judge(lives.of(next), before(next), next);
      if (outcome == Outcome.HELD_BACK && !overdue) {
        return;
      }
      if (outcome == Outcome.APPLIED || outcome == Outcome.HELD_BACK) {
        StreamPosition at = stream.at();
        if (overdue) {
          counts.add(Outcome.GAP);
          at = withOneGapMore(at);
          overdue = false;
        }
        apply(next, at, Math.max(row.sourceOffset(), byOffset), row.appendTimeMs());
      } else {
        table.putLast(stream.id(), first.getKey(), null);
        table.commit();
        counts.record(outcome, next.events().size());
      }
    }
  }

  /**
   * Waiting has its bounds: what is held longest is applied, the hole before it is a gap.
   *
   * @param byOffset of the record that says how late it is, in the events topic
   */
  private void releaseOverdue(long nowMs, long byOffset) {
    if (streams.waiting().isEmpty()) {
      return;
    }
    for (StreamState stream : List.copyOf(streams.waiting())) {
      if (nowMs - stream.heldSinceMs() > limits.heldFor().toMillis()) {
        drain(stream, byOffset, true);
      }
    }
  }
}
