// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.zmq.ReplayAttempt.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * One replay with all its attempts. A hole in an answer is asked for again from the hole on; it is
 * taken as it is once an answer <em>begins</em> behind it twice (then the engine has it no more) or
 * the attempts at it are used up. So is an answer that lacks the batch it was to begin with. Used
 * by one thread at a time.
 */
final class ReplayJob {

  private static final Logger LOG = LoggerFactory.getLogger(ReplayJob.class);

  private final String endpoint;

  /** Where that leads, in the order to try them; known before it is asked. */
  private List<String> addresses = List.of();

  /** Connections made, each to the next address. */
  private int connections;

  private final ReplayFeed feed;
  private final ReplayPolicy policy;
  private final int patience;
  private boolean doubted;
  private long expected;
  private int attempts;
  private int fruitless;
  private int brought;
  private boolean takesHoles;

  /** The last answer began behind what is expected: the next one is taken if it does so, too. */
  private boolean startedLate;

  /** An answer was empty though it was to begin with a batch we have: the next one is believed. */
  private boolean cameEmpty;

  /**
   * @param doubted whether the endpoint did not answer the last question: it is asked once only
   */
  ReplayJob(
      String endpoint, @Nullable Long have, boolean doubted, ReplayFeed feed, ReplayPolicy policy) {
    this.endpoint = endpoint;
    this.feed = feed;
    this.policy = policy;
    this.doubted = doubted;
    this.patience = doubted ? 1 : policy.attempts();
    this.expected = have == null ? 0 : have + 1;
  }

  /** Whether it may well not answer, so that nobody should have to wait for it. */
  boolean isDoubted() {
    return doubted;
  }

  /** What is asked, as the registration names it. */
  String endpoint() {
    return endpoint;
  }

  /** Where it is to be asked, in numbers; before each attempt, since a name may move. */
  void at(List<String> found) {
    addresses = found;
  }

  /** Whether nobody wants the answer any more. */
  boolean isCancelled() {
    return feed.isCancelled();
  }

  /**
   * Begins an attempt.
   *
   * @throws RuntimeException if the endpoint can not be used at all
   */
  ReplayAttempt ask(ZMQ.Context context) {
    attempts++;
    brought = 0;
    return askAgain(context);
  }

  /** The same question over another connection, to the next address if there are several. */
  ReplayAttempt askAgain(ZMQ.Context context) {
    // Each question begins with a batch we have: whoever answers shows by it who it is.
    long start = expected == 0 ? 0 : expected - 1;
    String address = addresses.get(connections++ % addresses.size());
    return ReplayAttempt.ask(context, address, policy.answerTimeout(), start);
  }

  /** Reads the answer to an attempt; the pause before the next one, null when done. */
  @Nullable Duration read(ReplayAttempt attempt, BooleanSupplier closed)
      throws InterruptedException {
    long before = expected;
    Outcome outcome;
    String problem = null;
    try {
      outcome = attempt.read(this, () -> closed.getAsBoolean() || feed.isCancelled());
    } catch (RuntimeException e) {
      outcome = Outcome.SILENT;
      problem = unusable(e.toString());
    }
    fruitless = expected == before ? fruitless + 1 : 0;
    return next(outcome, problem);
  }

  /**
   * An attempt was not answered at all; the pause before the next one, null when done.
   *
   * @param problem why it could not even be made, null = it was
   */
  @Nullable Duration unanswered(@Nullable String problem) {
    fruitless++;
    return next(Outcome.SILENT, problem == null ? null : unusable(problem));
  }

  private String unusable(String problem) {
    return "replay endpoint " + endpoint + " can not be used: " + problem;
  }

  private @Nullable Duration next(Outcome outcome, @Nullable String problem) {
    LOG.debug("replay endpoint={} expected={} outcome={}", endpoint, expected, outcome);
    switch (outcome) {
      case COMPLETE:
        if (brought == 0 && expected != 0 && !cameEmpty && attempts < policy.totalAttempts()) {
          // Either another engine's, which ends a life, or the one batch was lost on its way.
          cameEmpty = true;
          return Duration.ZERO;
        }
        feed.finish(new ReplayFeed.End(brought == 0, null));
        return null;
      case STOPPED:
        return null;
      case STARTED_LATE:
        startedLate = true;
        break;
      case HOLE:
        break;
      case SILENT:
        doubted = true;
        if (fruitless >= patience || attempts >= policy.totalAttempts()) {
          String what =
              problem != null
                  ? problem
                  : "replay endpoint "
                      + endpoint
                      + " does not answer (asked "
                      + attempts
                      + " times)";
          feed.finish(new ReplayFeed.End(false, what));
          return null;
        }
        break;
    }
    takesHoles |= fruitless >= policy.holeAttempts() || attempts >= policy.totalAttempts();
    return fruitless == 0 || outcome == Outcome.STARTED_LATE
        ? Duration.ZERO
        : policy.pauseAfter(fruitless);
  }

  /** Next batch not passed on yet, unsigned. */
  long expected() {
    return expected;
  }

  /** Whether batches may be missing before this one, because asking again is of no use. */
  boolean takesHoles() {
    return takesHoles || startedLate;
  }

  /** Takes a batch of the answer; false = stop. */
  boolean accept(RawBatch frame) throws InterruptedException {
    if (!feed.put(frame)) {
      return false;
    }
    brought++;
    startedLate = false; // a hole behind this batch is in the middle: lost on its way
    if (Long.compareUnsigned(frame.sequence(), expected) >= 0) {
      expected = frame.sequence() + 1;
      // Only the hole at this place was found to be for good; the next one is asked for again.
      takesHoles = attempts >= policy.totalAttempts();
    }
    return true;
  }

  /** A message that is no batch, or a batch behind a hole, which will be asked for again. */
  void discard(boolean malformed) {
    feed.discarded(malformed ? FrameOutcome.MALFORMED : FrameOutcome.ASKED_AGAIN);
  }
}
