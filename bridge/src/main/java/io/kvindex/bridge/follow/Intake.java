// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.follow.BatchDecoder.Parsed;
import io.kvindex.bridge.follow.StreamPosition.Place;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Registration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What was taken of the life followed: its batches in order, each once. I/O thread only. */
final class Intake {

  private static final Logger LOG = LoggerFactory.getLogger(Intake.class);
  private static final long POISON_NS = TimeUnit.SECONDS.toNanos(5);

  /** As few batches as these may well be missed while what is in between connects again. */
  private static final long FIRST_ONES = 64;

  /** No engine gets that far in a year: beyond it a hole says that a number was damaged. */
  private static final long MOST_LOST = 1L << 32;

  private final OncePerMinute warnings = new OncePerMinute();
  private final Registration registration;
  private final BatchPublisher publisher;
  private final FollowStatus status;
  private final LifeJudge judge;
  private final StreamPosition position;
  private final Holes holes;
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
    this.position =
        new StreamPosition(
            acked == null ? null : acked.sequence(), registration.type() == SourceType.MOONCAKE);
    this.holes = new Holes(status);
  }

  /** The last sequence taken, null = none yet in this life. */
  @Nullable Long last() {
    return position.last();
  }

  /** The sequence that has to come next. */
  long expected() {
    return position.expected();
  }

  /** Whether a life's numbers begin with that batch's. */
  boolean isFirst(RawBatch batch) {
    return position.isFirst(batch.sequence());
  }

  /** Whether that is number 1 of a life of which nothing is known yet: some count from there. */
  boolean mayBeFirst(RawBatch batch) {
    return last() == null && batch.sequence() == 1;
  }

  /** This life's numbers begin with 1: nothing is missing before it. */
  void numbersFromOne() {
    position.numbersFromOne();
  }

  Place place(RawBatch batch) {
    return position.place(batch.sequence());
  }

  /** What was taken behind that counts no more, null = nothing counts. */
  void goBackTo(SendSession.@Nullable Acked acked) {
    position.moveTo(acked == null ? null : acked.sequence());
    publisher.goesBack();
  }

  /** Batches before that one are missing. */
  void noteHole() {
    holes.found(position.expected());
  }

  /** Nothing more is taken of this life. */
  void end() {
    holes.lifeEnded();
  }

  /** Another life begins. */
  void begin() {
    end();
    judge.begin();
    publisher.forget();
    position.begin();
  }

  /** The verdict on a live batch that came behind the last one. */
  LifeJudge.Verdict ofLive(RawBatch batch) {
    return judge.ofLive(batch, parse(batch).sourceMicros());
  }

  /** The verdict on a batch of the replay that is not beyond the last one. */
  LifeJudge.Verdict ofReplayed(RawBatch batch) {
    return judge.ofReplayed(batch, parse(batch).sourceMicros());
  }

  boolean isReadable(RawBatch batch) {
    return parse(batch).rejected() == null;
  }

  Parsed parse(RawBatch batch) {
    return publisher.parse(batch);
  }

  /**
   * Whether a live batch may be somebody else's: one that is older than the last one, or that can
   * not be read, which says nothing about whose it is; the replay may have it whole.
   */
  boolean isSuspect(Parsed live) {
    return live.rejected() != null && !isPoisoned() || judge.isOlder(live.sourceMicros());
  }

  /** Whether the engine may have been started again between the last batch and the next one. */
  boolean mayHaveRestartedBefore(Parsed next) {
    return last() != null
        && next.rejected() == null
        && (Long.compareUnsigned(expected(), FIRST_ONES) < 0
            || judge.hasPauseBefore(next.sourceMicros()));
  }

  /** Takes a batch of the replay. */
  void takeReplayed(RawBatch batch, SendSession session) {
    Parsed parsed = parse(batch);
    if (parsed.rejected() != null) {
      poisonedUntilNs = System.nanoTime() + POISON_NS;
      poisoned = true;
    }
    take(batch, parsed, session);
  }

  /** Whether the engine itself has sent what can not be read: no replay makes that better. */
  private boolean isPoisoned() {
    poisoned &= System.nanoTime() - poisonedUntilNs < 0;
    return poisoned;
  }

  /** Takes one that was taken before: only where tests of the chaos suite switch dedupe off. */
  void takeAgain(RawBatch batch, SendSession session) {
    publisher.publish(
        batch, LifeJudge.fingerprint(batch), parse(batch), position.last(), null, session);
  }

  /** Takes a batch as this life's next one, with what is missing before it. */
  void take(RawBatch batch, Parsed parsed, SendSession session) {
    KvEvent.Gap gap =
        place(batch) == Place.BEYOND ? lose(position.expected(), batch.sequence() - 1) : null;
    long fingerprint = LifeJudge.fingerprint(batch);
    publisher.publish(batch, fingerprint, parsed, position.last(), gap, session);
    judge.taken(batch, fingerprint, parsed.sourceMicros());
    holes.taken(batch.sequence());
    position.moveTo(batch.sequence());
  }

  private KvEvent.Gap lose(long from, long to) {
    holes.lost(from);
    long batches = to - from + 1;
    status.lost(batches > 0 && batches < MOST_LOST ? batches : 1);
    String range = Long.toUnsignedString(from) + ".." + Long.toUnsignedString(to);
    status.lossy("batches " + range + " are lost: no replay has them");
    if (warnings.allows()) {
      LOG.warn("publisher={} lost batches={}", registration.publisher(), range);
    }
    return new KvEvent.Gap(from, to);
  }
}
