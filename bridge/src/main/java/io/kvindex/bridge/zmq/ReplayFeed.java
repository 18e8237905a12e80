// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
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

  /** Told of what happens to a feed; must not block. */
  public interface Listener {

    /** There is something to take, or it has ended; the replay's thread. */
    void changed();

    /** Messages were read that nobody will take; any thread. */
    void discarded(Discard why, long count);
  }

  /** Why a message of a replay is taken by nobody. */
  public enum Discard {
    /** It is no batch. */
    MALFORMED,
    /** It lies behind a hole, and is asked for again from the hole on. */
    ASKED_AGAIN,
    /** The replay was cancelled. */
    CANCELLED
  }

  private final BlockingQueue<RawBatch> frames = new ArrayBlockingQueue<>(CAPACITY);
  private final Listener listener;
  private volatile @Nullable End end;
  private volatile boolean cancelled;

  ReplayFeed(Listener listener) {
    this.listener = listener;
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
    listener.discarded(Discard.CANCELLED, frames.drainTo(new ArrayList<>()));
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
      listener.discarded(Discard.CANCELLED, 1);
    }
    if (cancelled) {
      return false;
    }
    listener.changed();
    return true;
  }

  void discarded(Discard why) {
    listener.discarded(why, 1);
  }

  void finish(End how) {
    end = how;
    listener.changed();
  }
}
