// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.zmq.ReplayFeed;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a publisher's replay endpoint is asked for, and what it says. For its loop's thread only.
 */
final class Asking {

  private static final int MAX_DOUBLINGS = 5;

  /** The same where nothing is known to be missing: some minutes. */
  private static final int MAX_QUIET_DOUBLINGS = 8;

  /** Unanswered questions in a row after which an endpoint counts as dead. */
  private static final int PATIENT_ROUNDS = 3;

  private final @Nullable String endpoint;
  private final Followers site;
  private final FollowStatus status;
  private final Runnable changed;
  private final Later later;
  private @Nullable ReplayFeed feed;
  private boolean complete;
  private boolean hasBrought;
  private boolean hasBroughtOfLife;
  private boolean empty;
  private int failures;
  private long failedNs;

  /** The batch that shows who answers, null = any. */
  private @Nullable Long proof;

  /** Whether the answer was to begin with a batch taken before. */
  private boolean beginsWithKnown;

  /** What the answer that is read began with, null = nothing came yet. */
  private @Nullable RawBatch opening;

  /** Where the stream stood when it was asked: if it still stands there, asking is of no use. */
  private @Nullable Long askedAt;

  /** What had been taken when it was left to live batches to show that nothing is missing. */
  private @Nullable Long quietSince;

  private boolean quiet;

  /** What had been taken when a silence was last looked for, null = none is looked for. */
  private @Nullable Long heard;

  private boolean silent;

  /** Behind which batch it was silent for long enough: once is enough. */
  private @Nullable Long listened;

  /** Whether it is asked only in case something is missing. */
  private boolean idle;

  /**
   * @param endpoint null = the publisher has none
   * @param changed told, by any thread, that there is something to take
   */
  Asking(
      @Nullable String endpoint,
      Followers site,
      FollowStatus status,
      Later later,
      Runnable changed) {
    this.endpoint = endpoint;
    this.site = site;
    this.status = status;
    this.changed = changed;
    this.later = later;
  }

  boolean isPossible() {
    return endpoint != null;
  }

  /**
   * Whether it is possible, and likely to be answered: the last question was, or it is worth trying
   * again what has answered before.
   */
  boolean isAnswering() {
    boolean triesAgain =
        hasBrought && System.nanoTime() - failedNs >= pause(MAX_QUIET_DOUBLINGS).toNanos();
    return endpoint != null && (failures == 0 || triesAgain);
  }

  /**
   * Whether it is possible, was not tried where the stream stands now, and is not known to be of no
   * use for the moment: a dead endpoint must not hold up what comes live.
   */
  boolean isWorthwhile(long expected) {
    boolean recovering = failures > 0 && System.nanoTime() - failedNs < pause().toNanos();
    return endpoint != null && !recovering && !wasAskedAt(expected);
  }

  /**
   * Whether what is missing may still be had though the endpoint did not answer: worth a pause and
   * another question, but not for ever, since what came live waits meanwhile. That goes for one
   * that has never answered, too: a bridge just started asks each engine for the first time, and
   * what is given up there is all that was sent while no bridge ran.
   */
  boolean deservesPatience() {
    return failures > 0 && failures <= PATIENT_ROUNDS;
  }

  /** Whether the stream still stands where a hole was asked for. */
  boolean wasAskedAt(long expected) {
    return askedAt != null && askedAt == expected;
  }

  void noteAskedAt(@Nullable Long expected) {
    askedAt = expected;
  }

  /**
   * Whether that batch shows who answers. One before the last that Kafka has says nothing about
   * that one, which may be nobody's: its number damaged on the way.
   */
  boolean isProof(RawBatch batch) {
    return proof == null || Long.compareUnsigned(batch.sequence(), proof) >= 0;
  }

  /**
   * Whether this batch opens an answer that was to begin with one taken before: if it is another
   * one, nothing in the answer shows that the engine is the same.
   */
  boolean opensAnswer(RawBatch batch) {
    return beginsWithKnown && batch == opening;
  }

  /** Whether an answer begins with this batch. */
  boolean isOpening(RawBatch batch) {
    return batch == opening;
  }

  /** Whether there is nobody to ask for what was before the first batch, or he has none of it. */
  boolean hasNothingBefore() {
    return endpoint == null || complete;
  }

  /** Whether all the endpoint has was read when it was last asked, and it was not nothing. */
  boolean isConclusive() {
    return complete && !empty && hasBrought;
  }

  /** Whether all the endpoint has was read when it was last asked, which may be nothing. */
  boolean isComplete() {
    return complete;
  }

  /**
   * Whether it had nothing when it was last asked, though it had something of this life before. An
   * engine keeps at least its newest batch, so one that had sent any is not it any more.
   */
  boolean hasForgottenAll() {
    return complete && empty && hasBroughtOfLife;
  }

  /** Another life is followed: its engine may keep nothing, whatever the one before did. */
  void newLife() {
    hasBroughtOfLife = false;
    listened = null;
    noteAskedAt(null);
  }

  /**
   * Asks.
   *
   * @param have a batch of this life, asked for once more and what follows it; null = everything
   * @param proves the batch from which on what it has shows who it is, null = any
   */
  void start(@Nullable Long have, @Nullable Long proves, Duration delay) {
    site.metrics.replay();
    status.count("replays", 1);
    complete = false;
    empty = false;
    quiet = false;
    idle = false;
    beginsWithKnown = have != null;
    proof = proves;
    feed =
        site.replays.start(
            Objects.requireNonNull(endpoint),
            have,
            failures > 0,
            delay,
            changed,
            status::discarded);
  }

  /** The question that runs is asked only because it was quiet, not because anything is missing. */
  void noteIdle() {
    idle = true;
  }

  /** Whether the question that runs is of no use once the next batch comes live. */
  boolean isIdle() {
    return idle;
  }

  /** Gives live batches some time to show that nothing is missing behind that one. */
  void waitForNext(@Nullable Long last) {
    quietSince = last;
    later.run(() -> quiet = true, pause(MAX_QUIET_DOUBLINGS));
  }

  /**
   * Looks whether anything follows that batch for a while: where it does not, what follows may have
   * been dropped on its way. One look at a time, however many batches come.
   */
  void watchForSilence(Long last) {
    if (heard == null && !last.equals(listened)) {
      heard = last;
      later.run(() -> silent = true, site.limits.silence());
    }
  }

  /** Whether live batches had their time and showed nothing; once. */
  boolean takeQuiet(@Nullable Long last) {
    boolean over = quiet;
    quiet = false;
    return takeSilence(last) || over && Objects.equals(quietSince, last);
  }

  private boolean takeSilence(@Nullable Long last) {
    if (!silent) {
      return false;
    }
    silent = false;
    boolean over = Objects.equals(heard, last);
    heard = null;
    if (over) {
      listened = last;
    } else if (last != null) {
      watchForSilence(last);
    }
    return over;
  }

  void cancel() {
    if (feed != null) {
      feed.cancel();
      feed = null;
      opening = null;
    }
  }

  /** The next batch of the answer, null = none is here. */
  @Nullable RawBatch poll() {
    if (feed == null) {
      return null;
    }
    RawBatch batch = feed.poll();
    if (batch != null) {
      hasBrought = true;
      hasBroughtOfLife = true;
      opening = opening == null ? batch : opening;
      status.received(true, 1);
    }
    return batch;
  }

  /** How the answer ended, once; null = it has not. */
  ReplayFeed.@Nullable End takeEnd() {
    ReplayFeed.End end = feed == null ? null : feed.end();
    if (end == null || feed == null) {
      return null;
    }
    feed = null;
    opening = null;
    complete = end.problem() == null;
    empty = end.empty();
    failures = complete ? 0 : Math.min(failures + 1, MAX_QUIET_DOUBLINGS);
    if (!complete) {
      failedNs = System.nanoTime();
      status.problem(Objects.requireNonNull(end.problem()));
      status.count("replays_failed", 1);
    }
    return end;
  }

  /** How long to wait before it is asked again. */
  Duration pause() {
    return pause(MAX_DOUBLINGS);
  }

  private Duration pause(int mostDoublings) {
    return site.limits.retry().multipliedBy(1L << Math.min(failures, mostDoublings));
  }
}
