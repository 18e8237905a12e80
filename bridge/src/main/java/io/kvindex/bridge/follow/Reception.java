// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.follow.Intake.Place;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.chaos.Protection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of each batch that a publisher's engine sent, live or by replay: taken,
 * dropped, or a sign that something is missing or that the engine is another one. For its loop's
 * thread only.
 */
final class Reception {

  /**
   * Below this number an engine is young: another one may well stand at the same number, and not
   * much is forgotten where it was the same after all.
   */
  static final long YOUNG = 1_000;

  private final Intake intake;
  private final Asking asking;
  private final Doubts doubts;
  private final LiveBuffer buffer;
  private final FollowStatus status;
  private final boolean keeps;

  /**
   * The live batch that ended the life before this one and still waits, null = another sign did.
   */
  private @Nullable RawBatch ender;

  /** The live batch behind the last one that was asked about, null = none was. */
  private @Nullable RawBatch asked;

  /**
   * @param gaps whether an engine's blocks are kept where batches of it are lost
   */
  Reception(
      Intake intake,
      Asking asking,
      Doubts doubts,
      LiveBuffer buffer,
      FollowStatus status,
      GapPolicy gaps) {
    this.intake = intake;
    this.asking = asking;
    this.doubts = doubts;
    this.buffer = buffer;
    this.status = status;
    this.keeps = gaps == GapPolicy.KEEP;
  }

  /** What the engine has under that number at this moment. */
  Decision replayed(RawBatch batch) {
    Place place = intake.place(batch);
    if (place == Place.BEHIND) {
      return replayedAgain(batch);
    } else if (doubts.isUnproven() && mayFollowUnheard(batch)) {
      doubts.sameEngine();
    } else if (doubts.isUnproven() || place == Place.NEXT && asking.opensAnswer(batch)) {
      status.outcome(FrameOutcome.ASKED_AGAIN, 1);
      return new Decision.EndLife("its replay does not have the last batch of the one before");
    }
    if (place == Place.NEXT && asking.wasAskedAt(batch.sequence())) {
      asking.noteAskedAt(null);
    }
    if (intake.mayBeFirst(batch)) {
      intake.numbersFromOne();
    }
    doubts.tookReplayed(batch);
    intake.takeReplayed(batch);
    return Decision.GO_ON;
  }

  /**
   * Whether a replay that begins behind the last batch taken may be the same engine's, which sent
   * more meanwhile than it keeps: then only what lies between is missing. Its clock must not say
   * otherwise.
   */
  private boolean mayFollowUnheard(RawBatch batch) {
    return keeps && asking.isOpening(batch) && !intake.isSuspect(batch);
  }

  private Decision replayedAgain(RawBatch batch) {
    LifeJudge.Verdict verdict = intake.ofReplayed(batch);
    if (verdict == LifeJudge.Verdict.NEW_LIFE) {
      status.outcome(FrameOutcome.ASKED_AGAIN, 1);
      return new Decision.EndLife("its replay has another batch " + number(batch));
    }
    status.outcome(FrameOutcome.DUPLICATE_OR_LATE, 1);
    if (verdict == LifeJudge.Verdict.SAME) {
      doubts.vouchedFor(batch);
      if (asking.isProof(batch)) {
        doubts.sameEngine();
      }
    }
    return Decision.GO_ON;
  }

  /**
   * Asks the engine for what it has: once more for the last batch that Kafka has, which shows who
   * answers, and for what follows it. Of a young life, for all that came live since a replay had
   * any: if that was another engine's, the one that answers has others under those numbers.
   */
  void ask(SendSession.@Nullable Acked acked, Duration delay) {
    Long last = acked == null ? null : acked.sequence();
    Long vouched = doubts.vouched();
    boolean isSurer =
        last != null && (vouched == null || Long.compareUnsigned(vouched, last) < 0) && isYoung();
    asking.start(isSurer ? vouched : last, last, delay);
  }

  /** What it means that the replay was read as far as it goes. */
  Decision replayEnded(boolean complete) {
    if (!complete) {
      asking.noteAskedAt(intake.expected());
      return new Decision.AskIfQuiet();
    } else if (doubts.isUnproven() || intake.last() != null && asking.hasForgottenAll()) {
      return new Decision.EndLife("its replay has nothing of the one before");
    }
    // A batch sent after the replay's end and before the subscription took effect is in neither;
    // without a next batch nothing would tell.
    return doubts.takeTailCheck() ? new Decision.AskIfQuiet() : Decision.GO_ON;
  }

  /**
   * All that came live is taken. What an engine sent behind it may have been dropped on its way
   * (queues were full, somebody stood still), and only its next batch would tell, which may not
   * come for hours: an engine that is silent is asked, once.
   */
  void upToDate() {
    Long last = intake.last();
    if (last != null && asking.isAnswering()) {
      asking.watchForSilence(last);
    }
  }

  /** The oldest live batch that waits; it goes on waiting where the decision says so. */
  Decision live(RawBatch next) {
    Place place = intake.place(next);
    return place == Place.BEHIND ? liveBehind(next) : liveAhead(next, place);
  }

  /**
   * Whether the only live batch that waits is the one to come next, and nothing is doubtful about
   * it: then nothing was missing before it.
   */
  boolean isPlainlyNext() {
    RawBatch only = buffer.size() == 1 ? buffer.peek() : null;
    return only != null
        && intake.place(only) == Place.NEXT
        && !doubts.isUnproven()
        && !intake.isSuspect(only)
        && !mayBeAnothers(only);
  }

  /** Nothing comes twice or late over a new connection, whatever its engine's clock says. */
  private Decision liveBehind(RawBatch next) {
    if (doubts.isUnproven()) {
      return undecided(next);
    }
    LifeJudge.Verdict verdict = intake.ofLive(next);
    if (verdict != LifeJudge.Verdict.SAME && !intake.isReadable(next)) {
      return drop(FrameOutcome.UNREADABLE);
    }
    return switch (verdict) {
      case SAME -> notAgain(next);
      case LATE -> doubts.isLateAgain(next) ? behindInARow(next) : notAgain(next);
      case OTHER -> doubts.isOtherAgain(next) ? behindInARow(next) : another(next);
      case NEW_LIFE -> laterAgain(next);
      case UNKNOWN -> doubts.isLateAgain(next) ? behindInARow(next) : undecided(next);
    };
  }

  private Decision another(RawBatch next) {
    return mayAskOver(next) ? askOver(next) : notAgain(next);
  }

  private boolean mayAskOver(RawBatch next) {
    return next != asked && asking.isWorthwhile(intake.expected());
  }

  /** What is missing where the stream stands is asked for by itself: it may come behind this. */
  private Decision askOver(RawBatch next) {
    asked = next;
    return new Decision.Ask(Duration.ZERO);
  }

  /**
   * A replay asked for because of a batch and now past its number does not have it: so it is not
   * the engine's, whatever its time says. To end this life, too, would end all that follow.
   */
  private Decision laterAgain(RawBatch next) {
    if (next == ender) {
      return drop(FrameOutcome.FORMER_LIFE);
    }
    ender = next;
    return new Decision.EndLife("batch " + number(next) + " came again, later");
  }

  private Decision notAgain(RawBatch next) {
    if (Protection.DEDUPE.isOff()) {
      intake.takeAgain(next);
    }
    return drop(FrameOutcome.DUPLICATE_OR_LATE);
  }

  private Decision behindInARow(RawBatch next) {
    return asking.isPossible()
        ? undecided(next)
        : new Decision.EndLife("batch " + number(next) + " and many before it came again");
  }

  private Decision undecided(RawBatch next) {
    if (!intake.isReadable(next)) {
      return drop(FrameOutcome.UNREADABLE);
    } else if (mayAskOver(next)) {
      doubts.raise();
      return askOver(next);
    } else if (doubts.isUnproven()) {
      return new Decision.EndLife("batch " + number(next) + " came again");
    }
    return drop(FrameOutcome.DUPLICATE_OR_LATE);
  }

  private Decision liveAhead(RawBatch next, Place place) {
    boolean suspect = intake.isSuspect(next);
    boolean beyond = place == Place.BEYOND;
    boolean mayBeFirst = intake.mayBeFirst(next);
    if ((beyond || suspect || mayBeAnothers(next)) && asking.isWorthwhile(intake.expected())) {
      if (beyond && !mayBeFirst) {
        intake.noteHole();
      }
      return askHere();
    } else if (beyond && asking.deservesPatience() && buffer.isRoomy()) {
      intake.noteHole();
      return new Decision.Ask(asking.pause());
    } else if (mayBeFirst && asking.hasNothingBefore()) {
      intake.numbersFromOne();
      beyond = false;
    }
    if (doubts.isUnproven() && (beyond || isYoung())) {
      return new Decision.EndLife(
          "it goes on at batch " + number(next) + ", and no replay shows that it is the same");
    } else if (isForeign(beyond, suspect)) {
      asking.noteAskedAt(null); // the next one is asked about for itself
      return drop(intake.isReadable(next) ? FrameOutcome.FORMER_LIFE : FrameOutcome.UNREADABLE);
    }
    buffer.removeFirst();
    doubts.taken(next);
    intake.take(next);
    return Decision.GO_ON;
  }

  private boolean isYoung() {
    return Long.compareUnsigned(intake.expected(), YOUNG) < 0;
  }

  /**
   * Whether the batch to come next may as well be another engine's that happens to stand at that
   * number, where something between hides that the connection broke: no live batch tells those two
   * apart, but an endpoint that answers does.
   */
  private boolean mayBeAnothers(RawBatch next) {
    return asking.isAnswering() && isYoung() && intake.mayHaveRestartedBefore(next);
  }

  /**
   * Whether the engine, asked after the batch had come, knows nothing of it: a former life's, or
   * one whose number was damaged. An engine keeps what it sent last, so an answer that ends before
   * a batch shows that it is not its own; but an endpoint that goes on without all that comes live
   * is not believed for long, or nothing of its engine would ever be taken.
   */
  private boolean isForeign(boolean beyond, boolean suspect) {
    if (!beyond && !suspect || !asking.wasAskedAt(intake.expected())) {
      return false;
    } else if (suspect || intake.last() == null) {
      return asking.isConclusive() || asking.isComplete() && doubts.allowStranger();
    }
    return asking.isConclusive() && doubts.allowStranger();
  }

  /** Asks for what is missing, or doubtful, where the stream stands. */
  private Decision askHere() {
    asking.noteAskedAt(intake.expected());
    return new Decision.Ask(Duration.ZERO);
  }

  private Decision drop(FrameOutcome outcome) {
    buffer.removeFirst();
    status.outcome(outcome, 1);
    return Decision.GO_ON;
  }

  private static String number(RawBatch batch) {
    return Long.toUnsignedString(batch.sequence());
  }
}
