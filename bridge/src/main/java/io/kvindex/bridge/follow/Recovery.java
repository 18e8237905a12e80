// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.zmq.ReplayFeed;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether what was lost can be had after all: a hole is given up after some rounds of
 * silence, though the engine may have everything once its replay endpoint answers again. So its
 * replay is read now and then, whether it has each batch from the life's first one on. Only then is
 * the life ended and everything told once more, from a second replay: what was read is not kept.
 * For its loop's thread only.
 */
final class Recovery {

  /** From a minute to about an hour. */
  private static final int MAX_DOUBLINGS = 6;

  /** Batches read in a row, so that others have their turn. */
  private static final int TURN = 256;

  private final @Nullable String endpoint;
  private final Followers site;
  private final FollowStatus status;
  private final Runnable changed;
  private final Later later;
  private @Nullable ReplayFeed feed;
  private int looks;

  /** The last batch read, null = none yet. */
  private @Nullable Long read;

  /** The last one that was taken when it was asked. */
  private @Nullable Long hadTaken;

  /** Not once more in this life: its beginning is gone, and buffers only move on. */
  private boolean hopeless;

  private boolean waiting;
  private boolean rebuilds;
  private boolean due;

  /**
   * @param endpoint null = the publisher has none
   * @param changed told, by any thread, that there is something to do
   */
  Recovery(
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

  /** Another life begins; where that is what was to bring things back, pauses go on growing. */
  void newLife() {
    cancel();
    hopeless = false;
    if (!rebuilds) {
      looks = 0;
    }
    rebuilds = false;
  }

  /** What the answer is for has to wait: it is asked for again as soon as this time. */
  void interrupt() {
    looks -= feed == null || looks == 0 ? 0 : 1;
    cancel();
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
   * @param intake what was taken of the life
   * @return the last batch that a replay of the whole life has to have, null = there is none, or
   *     not yet
   */
  @Nullable Long look(Intake intake) {
    if (endpoint == null || hopeless || !status.isRepairable()) {
      cancel();
      waiting &= !due;
      due = false;
      return null;
    }
    if (feed != null && readsAll(feed, intake)) {
      rebuilds = true;
      return CurrentLife.newest(read, intake.last());
    }
    if (due) {
      due = false;
      waiting = false;
      ask(endpoint, intake);
    } else if (feed == null && !hopeless && !waiting) {
      waiting = true;
      later.run(() -> due = true, site.limits.recovery().multipliedBy(1L << looks));
    }
    return null;
  }

  private void ask(String from, Intake intake) {
    looks = Math.min(looks + 1, MAX_DOUBLINGS);
    read = null;
    hadTaken = intake.last();
    site.metrics.replay();
    status.count("replays", 1);
    feed = site.replays.start(from, null, true, Duration.ZERO, changed, status::discarded);
  }

  private boolean readsAll(ReplayFeed answer, Intake intake) {
    RawBatch batch = answer.poll();
    for (int i = 1; batch != null; i++) {
      status.received(true, 1);
      status.outcome(FrameOutcome.ASKED_AGAIN, 1);
      hopeless = read == null && !intake.isFirst(batch);
      if (hopeless || read != null && batch.sequence() != read + 1) {
        cancel();
        return false;
      }
      read = batch.sequence();
      if (i == TURN) {
        changed.run();
        return false;
      }
      batch = answer.poll();
    }
    ReplayFeed.End end = answer.end();
    if (end == null) {
      return false;
    }
    feed = null;
    if (end.problem() != null) {
      status.count("replays_failed", 1);
      return false;
    }
    hopeless = read == null; // an engine that keeps nothing
    return read != null && (hadTaken == null || Long.compareUnsigned(read, hadTaken) >= 0);
  }
}
