// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import io.kvindex.streams.table.Streams;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Records that came early: until when they wait, and what becomes of them. For one thread. */
final class Waiting {

  private final PartitionTable table;
  private final Streams streams;
  private final Lives lives;
  private final StreamWriter writer;
  private final Counts counts;
  private final Duration longest;

  /**
   * @param longest how long a record waits for its predecessor
   */
  Waiting(PartitionTable table, Lives lives, StreamWriter writer, Counts counts, Duration longest) {
    this.table = table;
    streams = table.streams();
    this.lives = lives;
    this.writer = writer;
    this.counts = counts;
    this.longest = longest;
  }

  /** Counts what a former task has left, and goes on with it. */
  void resume() {
    for (StreamState stream : List.copyOf(streams.waiting())) {
      for (StreamState.Held place : List.copyOf(stream.held().keySet())) {
        EventRecord record = Held.record(stream, place);
        counts.taken(record == null ? 1 : record.events().size());
      }
      drain(stream, streams.takenOffset());
    }
  }

  /**
   * Applies what is held back as far as it follows without a hole.
   *
   * @param byOffset of the record that filled the last hole, in the events topic
   */
  void drain(StreamState stream, long byOffset) {
    while (!stream.held().isEmpty()) {
      EventRecord next = firstHeld(stream);
      if (next != null) {
        if (Sequencer.judge(lives.of(next), writer.at(next), next) == Verdict.HOLD) {
          return;
        }
        applyHeld(next, stream, stream.row(), byOffset);
      }
    }
  }

  /**
   * The held record whose turn is nearest, null if the first one turned out to be no use any more:
   * it is gone then.
   */
  private @Nullable EventRecord firstHeld(StreamState stream) {
    StreamState.Held first = stream.held().firstKey();
    EventRecord next = Held.record(stream, first);
    Verdict verdict =
        next == null ? Verdict.DUPLICATE : Sequencer.judge(lives.of(next), writer.at(next), next);
    if (next != null && (verdict == Verdict.APPLY || verdict == Verdict.HOLD)) {
      return next;
    }
    table.put(Held.key(stream.ref(), first), null);
    counts.record(
        verdict == Verdict.STALE_INCARNATION ? Outcome.STALE_INCARNATION : Outcome.DUPLICATE,
        next == null ? 1 : next.events().size());
    return null;
  }

  /**
   * @param byOffset of the record that ended the wait: who has applied less does not show this one
   */
  private void applyHeld(EventRecord next, StreamState stream, StreamRow before, long byOffset) {
    HeldRow row = Objects.requireNonNull(stream.held().get(Held.place(next)));
    writer.apply(next, before, Math.max(row.sourceOffset(), byOffset), row.appendTimeMs());
  }

  /**
   * Waiting has its bounds: what is held longest is applied, the hole before it is a gap.
   *
   * @param byOffset of the record that says how late it is, in the events topic
   */
  void releaseOverdue(long nowMs, long byOffset) {
    if (streams.waiting().isEmpty()) {
      return;
    }
    for (StreamState stream : List.copyOf(streams.waiting())) {
      if (nowMs - stream.heldSinceMs() > longest.toMillis()) {
        release(stream, byOffset);
      }
    }
  }

  /** The same for one stream, overdue or not. */
  void release(StreamState stream, long byOffset) {
    EventRecord next = null;
    // Records of a former life may wait in front: they are dropped, whatever the hole.
    while (next == null && !stream.held().isEmpty()) {
      next = firstHeld(stream);
    }
    if (next != null) {
      counts.add(Outcome.GAP);
      applyHeld(next, stream, stream.row().withGaps(stream.row().gaps() + 1), byOffset);
    }
    drain(stream, byOffset);
  }
}
