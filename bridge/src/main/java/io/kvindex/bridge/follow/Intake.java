// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.GapResult;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.SourceType;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Registration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was taken of the life followed: its batches in order, each once. For its loop's thread only.
 */
final class Intake {

  /** Where a batch lies; sequences are unsigned. */
  enum Place {
    /** Right behind the last one. */
    NEXT,
    /** Beyond the next one: something is missing. */
    BEYOND,
    /** Not beyond the last one. */
    BEHIND
  }

  private static final Logger LOG = LoggerFactory.getLogger(Intake.class);
  private static final long POISON_NS = TimeUnit.SECONDS.toNanos(5);

  /** As few batches as these may well be missed while what is in between connects again. */
  private static final long FIRST_ONES = 64;

  /** No engine gets that far in a year: beyond it a hole says that a number was damaged. */
  private static final long MOST_LOST = 1L << 32;

  private final OncePerMinute refusals = new OncePerMinute();
  private final OncePerMinute losses = new OncePerMinute();
  private final Registration registration;
  private final BatchPublisher publisher;
  private final FollowStatus status;
  private final LifeJudge judge;

  /** Whether a first number of 1 is as good as 0, as Mooncake's master has it. */
  private final boolean mayCountFromOne;

  private boolean countsFromOne;
  private @Nullable Long last;

  /** First missing sequence of the hole the stream stands before, null = none is known. */
  private @Nullable Long hole;

  private boolean poisoned;
  private long poisonedUntilNs;

  /**
   * @param acked what was taken before, null = nothing
   */
  Intake(
      Registration registration,
      BatchPublisher publisher,
      FollowStatus status,
      SendSession.@Nullable Acked acked) {
    this.registration = registration;
    this.publisher = publisher;
    this.status = status;
    this.judge = new LifeJudge(acked);
    this.last = acked == null ? null : acked.sequence();
    this.mayCountFromOne = registration.type() == SourceType.MOONCAKE;
    this.countsFromOne = mayCountFromOne;
  }

  /** The last sequence taken and handed to the producer, null = none yet in this life. */
  @Nullable Long last() {
    return last;
  }

  /** The sequence that has to come next; engines count from 0. */
  long expected() {
    return last == null ? 0 : last + 1;
  }

  /** Whether a life's numbers begin with that batch's. */
  boolean isFirst(RawBatch batch) {
    return batch.sequence() == 0 || countsFromOne && batch.sequence() == 1;
  }

  /** Whether that is number 1 of a life of which nothing is known yet: some count from there. */
  boolean mayBeFirst(RawBatch batch) {
    return last == null && batch.sequence() == 1;
  }

  /** This life's numbers begin with 1: nothing is missing before it. */
  void numbersFromOne() {
    countsFromOne = true;
  }

  /** Where a batch lies. */
  Place place(RawBatch batch) {
    if (last == null && isFirst(batch)) {
      return Place.NEXT;
    }
    int order = Long.compareUnsigned(batch.sequence(), expected());
    if (order > 0) {
      return Protection.REPAIR.isOff() ? Place.NEXT : Place.BEYOND;
    }
    return order == 0 ? Place.NEXT : Place.BEHIND;
  }

  /**
   * Goes back to what Kafka has where it refused a record: behind it nothing may follow, as it
   * would be taken for the next one.
   *
   * @return false if it can not: some of the life's first records may be in the log all the same,
   *     and nothing is known that could tell whose
   */
  boolean goBack(CurrentLife life) {
    Exception cause = life.session().failure();
    SendSession.Acked acked = life.session().acked();
    if (refusals.allows()) {
      LOG.warn("publisher={} goes back to {}: {}", registration.publisher(), acked, cause);
    }
    status.problem("Kafka refused a record: " + cause);
    status.count("sends_failed", 1);
    if (acked == null && last() != null) {
      return false;
    }
    life.goBack();
    last = acked == null ? null : acked.sequence();
    publisher.goesBack();
    return true;
  }

  /** Batches before that one are missing. */
  void noteHole() {
    noteHole(expected());
  }

  /** Each hole is counted once. */
  private void noteHole(long missing) {
    if (hole == null || hole != missing) {
      closeHole(GapResult.MOOT);
      hole = missing;
      status.gaps(GapResult.FOUND);
    }
  }

  private void closeHole(GapResult how) {
    if (hole != null) {
      hole = null;
      status.gaps(how);
    }
  }

  /** Nothing more is taken of this life: what was missing is of no interest any more. */
  void end() {
    closeHole(GapResult.MOOT);
  }

  /** Another life begins. */
  void begin() {
    end();
    judge.begin();
    publisher.forget();
    last = null;
    countsFromOne = mayCountFromOne;
  }

  /** The verdict on a live batch that came behind the last one. */
  LifeJudge.Verdict ofLive(RawBatch batch) {
    return judge.ofLive(batch, decoded(batch).timestampMicros());
  }

  /** The verdict on a batch of the replay that is not beyond the last one. */
  LifeJudge.Verdict ofReplayed(RawBatch batch) {
    return judge.ofReplayed(batch, decoded(batch).timestampMicros());
  }

  boolean isReadable(RawBatch batch) {
    return decoded(batch) instanceof EngineBatch;
  }

  private DecodeResult decoded(RawBatch batch) {
    return publisher.decoded(batch);
  }

  /**
   * Whether a live batch may be somebody else's: one that is older than the last one, or that can
   * not be read, which says nothing about whose it is; the replay may have it whole.
   */
  boolean isSuspect(RawBatch live) {
    return !isReadable(live) && !isPoisoned() || judge.isOlder(decoded(live).timestampMicros());
  }

  /** Whether the engine may have been started again between the last batch and the next one. */
  boolean mayHaveRestartedBefore(RawBatch next) {
    return last() != null
        && isReadable(next)
        && (Long.compareUnsigned(expected(), FIRST_ONES) < 0
            || judge.hasPauseBefore(decoded(next).timestampMicros()));
  }

  /** Takes a batch of the replay. */
  void takeReplayed(RawBatch batch) {
    if (!isReadable(batch)) {
      poisonedUntilNs = System.nanoTime() + POISON_NS;
      poisoned = true;
    }
    take(batch);
  }

  /** Whether the engine itself has sent what can not be read: no replay makes that better. */
  private boolean isPoisoned() {
    poisoned &= System.nanoTime() - poisonedUntilNs < 0;
    return poisoned;
  }

  /** Takes one that was taken before: only where tests of the chaos suite switch dedupe off. */
  void takeAgain(RawBatch batch) {
    publisher.publish(batch, last, null);
  }

  /** Takes a batch as this life's next one, with what is missing before it. */
  void take(RawBatch batch) {
    KvEvent.Gap gap = place(batch) == Place.BEYOND ? lose(expected(), batch.sequence() - 1) : null;
    publisher.publish(batch, last, gap);
    judge.taken(batch, decoded(batch).timestampMicros());
    if (hole != null && hole == batch.sequence()) {
      closeHole(GapResult.FILLED);
    }
    last = batch.sequence();
  }

  private KvEvent.Gap lose(long from, long to) {
    noteHole(from);
    closeHole(GapResult.LOST);
    long batches = to - from + 1;
    status.lost(batches > 0 && batches < MOST_LOST ? batches : 1);
    String range = Long.toUnsignedString(from) + ".." + Long.toUnsignedString(to);
    status.lossy("batches " + range + " are lost: no replay has them");
    if (losses.allows()) {
      LOG.warn("publisher={} lost batches={}", registration.publisher(), range);
    }
    return new KvEvent.Gap(from, to);
  }
}
