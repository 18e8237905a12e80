// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.LogPosition;
import io.kvindex.model.registration.Registration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A publisher being followed, seen from outside the loop's thread. Thread-safe. */
public final class Following {

  private final Follower follower;
  private final IoLoop loop;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile Registration registration;
  private volatile @Nullable Connection reported;

  Following(Life life, Follower follower, IoLoop loop) {
    this.follower = follower;
    this.loop = loop;
    this.registration = life.registration();
  }

  /** Goes on with a registration of the same generation, e.g. one with a further adapter. */
  public void update(Registration changed) throws InterruptedException {
    registration = changed;
    loop.execute(() -> follower.update(changed));
  }

  /** Another bridge has claimed a life: if it is beyond this one, the next is claimed here. */
  public void contest(long life) throws InterruptedException {
    loop.execute(() -> follower.contest(life));
  }

  /** Stops reading; returns at once. What was sent is still being acknowledged. */
  public void stop() throws InterruptedException {
    loop.execute(
        () -> {
          follower.stop();
          stopped.countDown();
        });
  }

  /** Whether it has stopped and everything sent is acknowledged or given up. */
  public boolean isSettled() {
    return stopped.getCount() == 0 && follower.life().session().isSettled();
  }

  /** What Kafka may know of it: only what Kafka has acknowledged. */
  public BridgeProgress progress() {
    return progress(follower.life().state());
  }

  /**
   * Hands out what to write to Kafka now: nothing while the claim of its next life is on its way,
   * which has to be the last word on this one.
   */
  public void report(Consumer<BridgeProgress> writer) {
    follower
        .life()
        .report(
            state -> {
              BridgeProgress progress = progress(state);
              reported = progress.connection();
              writer.accept(progress);
            });
  }

  /** Whether its connection is not any more what was reported last. */
  public boolean hasConnectionNews() {
    SendSession.Acked acked = follower.life().session().acked();
    return !follower.status().connection(acked == null ? null : acked.sequence()).equals(reported);
  }

  /** Whether the claim of its next life is on its way. */
  public boolean isClaiming() {
    return follower.life().isClaiming();
  }

  private BridgeProgress progress(CurrentLife.State state) {
    long next = state.session().next(); // asked for first, so that it is not beyond that batch
    SendSession.Acked acked = state.session().acked();
    FollowStatus status = follower.status();
    Long sequence = acked == null ? null : acked.sequence();
    return new BridgeProgress(
        registration.publisher(),
        registration.table(),
        registration.type(),
        state.incarnation().generation(),
        state.incarnation().life(),
        acked == null ? 0 : acked.clears(),
        sequence,
        acked == null ? 0 : acked.sourceMicros(),
        status.state(),
        status.lastError(),
        follower.counters(),
        lastIds(sequence, state.session()),
        follower.groups(),
        status.connection(sequence),
        follower.life().retells(),
        next < 0 ? null : new LogPosition(next, acked == null ? 0 : acked.fingerprint()));
  }

  /** The partition of its table in the events log was seen to end there. */
  public void logReaches(long end) {
    follower.life().session().logReaches(end);
  }

  /** Where in the events log whoever takes over has to read on, -1 = not known. */
  public long logNext() {
    return follower.life().session().next();
  }

  /** The table its blocks go to. */
  public TableId table() {
    return registration.table();
  }

  /** Asked for behind the sequence, so that no number is older than what it stands for. */
  private Map<String, Long> lastIds(@Nullable Long sequence, SendSession session) {
    if (sequence == null) {
      return Map.of();
    }
    Map<String, Long> ids = new HashMap<>();
    session
        .ackedIds()
        .forEach((sub, id) -> ids.put(new StreamId(registration.publisher(), sub).key(), id));
    ids.put(StreamId.of(registration.publisher()).key(), sequence);
    return ids;
  }

  /** When the oldest batch not acknowledged yet was read, 0 = all are. */
  public long oldestUnackedMicros() {
    return follower.oldestUnackedMicros();
  }

  /** What to show of it. */
  public WorkerStatus status() {
    CurrentLife.State state = follower.life().state();
    SendSession.Acked acked = state.session().acked();
    FollowStatus status = follower.status();
    return new WorkerStatus(
        registration,
        state.incarnation(),
        status.state(),
        status.isConnected(),
        status.lastError(),
        acked == null ? 0 : acked.clears(),
        acked == null ? null : acked.sequence(),
        acked == null ? 0 : acked.sourceMicros(),
        follower.oldestUnackedMicros(),
        follower.counters());
  }
}
