// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Incarnation;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.PeerImport;
import io.kvindex.streams.table.StreamState;
import io.kvindex.streams.view.StreamPosition;
import org.jspecify.annotations.Nullable;

/**
 * Decides whose turn it is in a stream. Only what records say counts, never a clock, so that a
 * replay decides the same.
 */
public final class Sequencer {

  private Sequencer() {}

  /**
   * Orders lives by generation, then life. Clears do not count: they end part of a cache, not the
   * life.
   */
  public static int compareLives(Incarnation a, Incarnation b) {
    int byGeneration = Long.compare(a.generation(), b.generation());
    return byGeneration != 0 ? byGeneration : Long.compare(a.life(), b.life());
  }

  /**
   * What becomes of a record by its place in its stream: it is applied, is of a former life, waits
   * for its predecessor, or its turn has passed.
   *
   * @param life the publisher's newest life, that of the record included
   * @param stream the stream as far as it was applied
   */
  static Outcome judge(Incarnation life, StreamPosition stream, EventRecord record) {
    if (compareLives(record.incarnation(), life) < 0) {
      return Outcome.STALE_INCARNATION;
    }
    if (PeerImport.isImport(record.stream())) {
      return Outcome.APPLIED;
    }
    Position last = stream.last();
    if (last != null && StreamState.ORDER.compare(record.position(), last) <= 0) {
      return Outcome.DUPLICATE;
    }
    return follows(last, record.position(), record.after()) || Protection.HOLD_BACK.isOff()
        ? Outcome.APPLIED
        : Outcome.HELD_BACK;
  }

  /**
   * Whether a record comes right after the last one applied: the next part of the same batch, or
   * the first part of a batch that names the last batch as its predecessor, an earlier one, or
   * none.
   *
   * <p>An earlier one is what a bridge names that did not hear of the last acknowledgements of the
   * one before it and found that the engine can not replay that far back. Whatever lies between the
   * batch it names and its own it has declared lost, so there is nothing to wait for, and the gap
   * has to be seen at once.
   */
  static boolean follows(@Nullable Position last, Position next, @Nullable Long after) {
    if (last != null && !last.last() && next.eventId() == last.eventId()) {
      return next.part() == last.part() + 1;
    }
    if (next.part() != 0) {
      return false;
    }
    return after == null
        || last != null && last.last() && Long.compareUnsigned(after, last.eventId()) <= 0;
  }
}
