// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.LogPosition;
import io.kvindex.model.registration.Registration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The life being followed, how far Kafka has it, and the change to the next one. The claim of the
 * next life is the last thing written about this one: progress written behind it would send whoever
 * takes over back to a dead life. Thread-safe; only the loop's thread changes lives.
 *
 * <p>In some lives the same engine's cache is told once more from its beginning: the index knows
 * less of it than there is before all is told, and must be told so.
 */
final class CurrentLife {

  /** A life and what was sent of it: one is of no use without the other. */
  record State(Incarnation incarnation, SendSession session) {}

  private final Registration registration;
  private final LifeClaims claims;
  private final LongSupplier logEnd;
  private final Runnable changed;
  private volatile State state;

  /** Last batch to be told again in the life followed or claimed, null = none. */
  private volatile @Nullable Long until;

  private boolean claiming;
  private long claimedNext = -1;

  /**
   * @param logEnd how far the events log is known to reach where the publisher's records go, -1 =
   *     not known
   * @param changed told, by any thread, that a send failed
   */
  CurrentLife(Life life, LifeClaims claims, LongSupplier logEnd, Runnable changed) {
    this.registration = life.registration();
    this.claims = claims;
    this.logEnd = logEnd;
    this.changed = changed;
    this.until = life.retells();
    this.state =
        new State(
            life.incarnation(), new SendSession(life.acked(), life.logNext(), life.ids(), changed));
  }

  State state() {
    return state;
  }

  SendSession session() {
    return state.session();
  }

  Incarnation incarnation() {
    return state.incarnation();
  }

  /** Whether a record of this life was refused and nobody has gone back yet. */
  boolean hasFailed() {
    return session().failure() != null;
  }

  /** What was sent behind the last acknowledged batch has to be sent again. */
  void goBack() {
    State now = state;
    SendSession over = now.session();
    state =
        new State(
            now.incarnation(),
            new SendSession(over.acked(), over.next(), over.ackedIds(), changed));
  }

  /**
   * Claims the next life; {@link #adopt} once it is acknowledged.
   *
   * @param done told by the producer's thread how it went
   */
  synchronized void claimNext(LifeClaims.Done done) {
    claiming = true;
    claimedNext = logEnd.getAsLong();
    LogPosition log = claimedNext < 0 ? null : new LogPosition(claimedNext, 0);
    claims.claim(
        BridgeProgress.claim(registration, state.incarnation().generation(), until, log), done);
  }

  /** Goes over to the claimed life, which is acknowledged. */
  synchronized void adopt(long claimed) {
    long generation = state.incarnation().generation();
    state =
        new State(
            new Incarnation(generation, claimed, 0),
            new SendSession(null, claimedNext, Map.of(), changed));
    claiming = false;
  }

  /** Whether a claim is on its way. */
  synchronized boolean isClaiming() {
    return claiming;
  }

  /** Hands out what may be written about this life now; nothing while the next one is claimed. */
  synchronized void report(Consumer<State> reporter) {
    if (!claiming) {
      reporter.accept(Objects.requireNonNull(state));
    }
  }

  /** The next life is another engine's: its cache is as empty as what is told of it. */
  void leaveEngine() {
    until = null;
  }

  /**
   * The next life is the same engine's, and tells once more what this one did.
   *
   * @param taken last batch that was taken of it, null = none
   */
  void tellAgain(@Nullable Long taken) {
    until = newest(taken, retells());
  }

  /**
   * Whether an engine that has told all it keeps did not come so far: then it is another one.
   *
   * @param last the last batch taken of it, null = it keeps none, which says nothing
   */
  boolean isCutShortAt(@Nullable Long last) {
    Long end = until;
    return end != null && last != null && isBefore(last, end);
  }

  /** Last batch that is to be told again and that Kafka does not have yet, null = there is none. */
  @Nullable Long retells() {
    Long end = until;
    SendSession.Acked acked = session().acked();
    boolean told = end == null || acked != null && !isBefore(acked.sequence(), end);
    return told ? null : end;
  }

  /**
   * Whether all is told with a batch: the last one of those, or the first one beyond, if that was
   * lost. It may be sent more than once.
   *
   * @param after the batch before it in this life, null = there is none
   */
  boolean endsRetelling(long sequence, @Nullable Long after) {
    Long end = until;
    return end != null && !isBefore(sequence, end) && (after == null || isBefore(after, end));
  }

  /**
   * The engine says live that its cache is empty, and nobody can be asked for what came before: all
   * that it holds will be told behind this batch. A restarted engine may never come to the batch
   * that was to be the last one.
   *
   * @param cleared the batch that says so
   */
  void tellsNoMoreThan(long cleared) {
    Long end = until;
    if (end != null && isBefore(cleared, end)) {
      until = cleared;
    }
  }

  /** The newer one of two batches. */
  static @Nullable Long newest(@Nullable Long a, @Nullable Long b) {
    return a == null || b != null && isBefore(a, b) ? b : a;
  }

  private static boolean isBefore(long a, long b) {
    return Long.compareUnsigned(a, b) < 0;
  }
}
