// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.bridge.zmq.ReplayFeed;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether what was lost can be had after all: a hole is given up after some rounds of
 * silence, though the engine may have everything once its replay endpoint answers again. So it is
 * looked at now and then, whether its replay begins with the life's first batch. I/O thread only.
 */
final class Recovery {

  /** From a minute to about an hour. */
  private static final int MAX_DOUBLINGS = 6;

  private final @Nullable String endpoint;
  private final FollowContext context;
  private final FollowStatus status;
  private final Runnable changed;
  private final Later later;
  private @Nullable ReplayFeed feed;
  private int looks;

  /** Not once more in this life: its beginning is gone, and buffers only move on. */
  private boolean hopeless;

  private boolean waiting;
  private boolean rebuilds;
  private volatile boolean due;

  /**
   * @param endpoint null = the publisher has none
   * @param changed told, by any thread, that there is something to do
   */
  Recovery(
      @Nullable String endpoint, FollowContext context, FollowStatus status, Runnable changed) {
    this.endpoint = endpoint;
    this.context = context;
    this.status = status;
    this.changed = changed;
    this.later = new Later(context.replays(), changed);
  }

  /** Another life begins; where that is what was to bring things back, pauses go on growing. */
  void newLife() {
    cancel();
    hopeless = false;
    if (!rebuilds) {
      looks = 0;
    }
    rebuilds = false;
  }

  /** Nothing is looked at any more. */
  void cancel() {
    if (feed != null) {
      feed.cancel();
      feed = null;
    }
  }

  /**
   * Goes on looking where that is due; to be called whenever the publisher is live.
   *
   * @param intake tells which batch is a life's first
   * @return whether the replay has the life from its beginning
   */
  boolean look(Intake intake) {
    if (endpoint == null || hopeless || !status.isRepairable()) {
      cancel();
      waiting &= !due;
      due = false;
      return false;
    }
    if (feed != null && judge(feed, intake)) {
      return true;
    }
    if (due) {
      due = false;
      waiting = false;
      ask(endpoint);
    } else if (feed == null && !hopeless && !waiting) {
      waiting = true;
      later.run(() -> due = true, context.limits().recovery().multipliedBy(1L << looks));
    }
    return false;
  }

  private void ask(String from) {
    looks = Math.min(looks + 1, MAX_DOUBLINGS);
    context.metrics().replay();
    status.count("replays", 1);
    feed = context.replays().start(from, null, true, Duration.ZERO, status.listener(changed));
  }

  private boolean judge(ReplayFeed answer, Intake intake) {
    RawBatch first = answer.poll();
    if (first != null) {
      status.received(true, 1);
      status.outcome(FrameOutcome.ASKED_AGAIN, 1);
      cancel();
      rebuilds = intake.isFirst(first);
      hopeless = !rebuilds;
      return rebuilds;
    }
    ReplayFeed.End end = answer.end();
    if (end != null) {
      feed = null;
      hopeless = end.problem() == null; // an engine that keeps nothing
      status.count("replays_failed", hopeless ? 0 : 1);
    }
    return false;
  }
}
