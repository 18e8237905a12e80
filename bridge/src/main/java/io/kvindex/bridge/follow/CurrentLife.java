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
 * takes over back to a dead life. Thread-safe; only the I/O thread changes lives.
 */
final class CurrentLife {

  /** A life and what was sent of it: one is of no use without the other. */
  record State(Incarnation incarnation, SendSession session) {}

  private final Registration registration;
  private final LifeClaims claims;
  private final LongSupplier logEnd;
  private final Runnable changed;
  private volatile State state;
  private boolean claiming;
  private long claimedNext = -1;
  private volatile @Nullable Long claimed;
  private volatile @Nullable Exception refused;

  /**
   * @param logEnd how far the events log is known to reach where the publisher's records go, -1 =
   *     not known
   * @param changed told, by any thread, that a send failed or a claim was answered
   */
  CurrentLife(Life life, LifeClaims claims, LongSupplier logEnd, Runnable changed) {
    this.registration = life.registration();
    this.claims = claims;
    this.logEnd = logEnd;
    this.changed = changed;
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
   * @param retells last batch that it has to tell once more, null = none
   */
  synchronized void claimNext(@Nullable Long retells) {
    claiming = true;
    refused = null;
    claimedNext = logEnd.getAsLong();
    LogPosition log = claimedNext < 0 ? null : new LogPosition(claimedNext, 0);
    claims.claim(
        BridgeProgress.claim(registration, state.incarnation().generation(), retells, log),
        (offset, problem) -> {
          if (problem == null) {
            claimed = offset;
          } else {
            refused = problem;
          }
          changed.run();
        });
  }

  /** Goes over to the claimed life, if it is acknowledged. */
  synchronized boolean adopt() {
    Long life = claimed;
    if (life == null) {
      return false;
    }
    long generation = state.incarnation().generation();
    state =
        new State(
            new Incarnation(generation, life, 0),
            new SendSession(null, claimedNext, Map.of(), changed));
    claimed = null;
    claiming = false;
    return true;
  }

  /** Why Kafka did not take the claim, once; null = it has, or has not answered. */
  @Nullable Exception takeRefusal() {
    Exception problem = refused;
    refused = null;
    return problem;
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
}
