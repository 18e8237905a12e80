// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.FrameOutcome;
import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Hands the batches of a replay from its thread to the loop's thread, a bounded number at a time,
 * and says how it ended.
 */
public final class ReplayFeed {

  private static final int CAPACITY = 1_024;

  /**
   * How a replay ended.
   *
   * @param empty whether it had not a single batch when it was asked last
   * @param problem what went wrong, null = everything the endpoint has was read
   */
  public record End(boolean empty, @Nullable String problem) {}

  private final BlockingQueue<RawBatch> frames = new ArrayBlockingQueue<>(CAPACITY);
  private final Runnable changed;
  private final ObjLongConsumer<FrameOutcome> discarded;
  private volatile @Nullable End end;
  private volatile boolean cancelled;

  /**
   * Neither must block.
   *
   * @param changed told by the replay's thread that there is something to take, or that it ended
   * @param discarded told by any thread that messages were read which nobody will take, and why
   */
  ReplayFeed(Runnable changed, ObjLongConsumer<FrameOutcome> discarded) {
    this.changed = changed;
    this.discarded = discarded;
  }

  /** The next batch, null if none is waiting. */
  public @Nullable RawBatch poll() {
    return frames.poll();
  }

  /** How it ended; null while it goes on or batches are waiting. */
  public @Nullable End end() {
    End reached = end;
    return frames.isEmpty() ? reached : null;
  }

  /** Nobody wants the rest. */
  public void cancel() {
    cancelled = true;
    discarded.accept(FrameOutcome.ABANDONED, frames.drainTo(new ArrayList<>()));
  }

  boolean isCancelled() {
    return cancelled;
  }

  boolean put(RawBatch frame) throws InterruptedException {
    boolean taken = false;
    while (!taken && !cancelled) {
      taken = frames.offer(frame, 50, TimeUnit.MILLISECONDS);
    }
    // One that slipped in while it was cancelled is counted by whoever gets hold of it.
    if (cancelled && (!taken || frames.remove(frame))) {
      discarded.accept(FrameOutcome.ABANDONED, 1);
    }
    if (cancelled) {
      return false;
    }
    changed.run();
    return true;
  }

  void discarded(FrameOutcome why) {
    discarded.accept(why, 1);
  }

  void finish(End how) {
    end = how;
    changed.run();
  }
}
