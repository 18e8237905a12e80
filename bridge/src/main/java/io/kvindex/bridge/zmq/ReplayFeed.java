// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Hands the batches of a replay from its thread to the I/O thread, a bounded number at a time, and
 * says how it ended.
 */
public final class ReplayFeed {

  private static final int CAPACITY = 1_024;

  /**
   * How a replay ended.
   *
   * @param complete whether everything the endpoint has was read
   * @param empty whether it had not a single batch when it was asked last
   * @param problem what went wrong, null if nothing did
   */
  public record End(boolean complete, boolean empty, @Nullable String problem) {}

  private final BlockingQueue<RawBatch> frames = new ArrayBlockingQueue<>(CAPACITY);
  private final Runnable changed;
  private final AtomicLong malformed = new AtomicLong();
  private final AtomicLong askedAgain = new AtomicLong();
  private volatile @Nullable End end;
  private volatile boolean cancelled;

  /**
   * @param changed told, by the replay's thread, that there is something to take
   */
  ReplayFeed(Runnable changed) {
    this.changed = changed;
  }

  /** The next batch, null if none is waiting. */
  public @Nullable RawBatch poll() {
    return frames.poll();
  }

  /** Batches waiting. */
  public int waiting() {
    return frames.size();
  }

  /** How it ended; null while it goes on or batches are waiting. */
  public @Nullable End end() {
    End reached = end;
    return frames.isEmpty() ? reached : null;
  }

  /** Messages that were no batch since the last call. */
  public long takeMalformed() {
    return malformed.getAndSet(0);
  }

  /** Batches dropped behind a hole, to be asked for again, since the last call. */
  public long takeAskedAgain() {
    return askedAgain.getAndSet(0);
  }

  /** Nobody wants the rest. */
  public void cancel() {
    cancelled = true;
    frames.clear();
  }

  boolean isCancelled() {
    return cancelled;
  }

  boolean put(RawBatch frame) throws InterruptedException {
    while (!cancelled) {
      if (frames.offer(frame, 50, TimeUnit.MILLISECONDS)) {
        changed.run();
        return true;
      }
    }
    return false;
  }

  void discarded(boolean isMalformed) {
    (isMalformed ? malformed : askedAgain).incrementAndGet();
  }

  void finish(End how) {
    end = how;
    changed.run();
  }
}
