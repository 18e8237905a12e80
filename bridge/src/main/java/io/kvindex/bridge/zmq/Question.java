// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A question to a replay endpoint whose answer has not begun. It is asked over a second connection
 * if the first has not come about in time: JeroMQ 0.6.0 leaves 2-3 % of its connections without a
 * handshake, and a dead engine's blocks are in the answers until the replay tells. A slow engine,
 * whose connection stands, is not asked twice. Used by the asking thread alone.
 */
final class Question {

  /** A handshake takes three round trips; over a longer way an answer comes twice, no more. */
  private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(60);

  private record Way(ReplayAttempt attempt, ZMQ.PollItem item) {}

  private final ReplayJob job;
  private final ZMQ.Poller poller;
  private final List<Way> ways = new ArrayList<>(2);
  private final long askedNs = System.nanoTime();
  private boolean askedAgain;

  /**
   * Asks.
   *
   * @throws RuntimeException if the endpoint can not be used at all
   */
  Question(ReplayJob job, ZMQ.Context context, ZMQ.Poller poller) {
    this.job = job;
    this.poller = poller;
    add(job.ask(context));
  }

  ReplayJob job() {
    return job;
  }

  /** Whether it may yet be asked over a second connection. */
  boolean isYoung() {
    return !askedAgain && !job.isDoubted() && !ways.get(0).attempt().isConnected();
  }

  /**
   * Asks over a second connection if it is time to.
   *
   * @throws RuntimeException if that is not possible; the first is still waited for
   */
  void askAgain(ZMQ.Context context, long nowNs) {
    if (isYoung() && nowNs - askedNs >= PATIENCE_NS) {
      askedAgain = true;
      add(job.askAgain(context));
    }
  }

  private void add(ReplayAttempt attempt) {
    ZMQ.PollItem item = new ZMQ.PollItem(attempt.socket(), ZMQ.Poller.POLLIN);
    poller.register(item);
    ways.add(new Way(attempt, item));
  }

  /** The attempt whose answer has begun, the caller's from now on; null = none yet. */
  @Nullable ReplayAttempt answered() {
    for (Way way : ways) {
      if (way.item().isReadable()) {
        poller.unregister(way.attempt().socket());
        ways.remove(way);
        close();
        return way.attempt();
      }
    }
    return null;
  }

  /** Whether nobody wants the answer, or it should have begun by now. */
  boolean isOver(long nowNs) {
    return job.isCancelled() || ways.get(0).attempt().isOverdue(nowNs);
  }

  /** Gives its connections up. */
  void close() {
    for (Way way : ways) {
      poller.unregister(way.attempt().socket());
      way.attempt().close();
    }
    ways.clear();
  }
}
