// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.bridge.zmq.IoLoop;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes given to the producer and not acknowledged yet. Once it is used up the sockets are not read
 * until half of it is free again, so a slow broker stops the reading instead of filling the heap.
 */
public final class SendBudget implements IoLoop.Gate {

  private final long maxBytes;
  private final AtomicLong inFlight = new AtomicLong();
  private volatile boolean exhausted;
  private volatile Runnable reopened = () -> {};

  /**
   * @param maxBytes limit in bytes; one record may exceed it
   */
  public SendBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whom to tell, on any thread, that half of it is free again. */
  public void onReopened(Runnable listener) {
    reopened = listener;
  }

  @Override
  public boolean hasRoom() {
    if (inFlight.get() < maxBytes) {
      return true;
    }
    exhausted = true;
    return false;
  }

  /** Bytes in flight. */
  public long inFlightBytes() {
    return inFlight.get();
  }

  void take(long bytes) {
    inFlight.addAndGet(bytes);
  }

  void give(long bytes) {
    if (inFlight.addAndGet(-bytes) <= maxBytes / 2 && exhausted) {
      reopened.run();
    }
  }

  @Override
  public boolean isClosed() {
    return exhausted;
  }

  @Override
  public boolean tryReopen() {
    if (inFlight.get() > maxBytes / 2) {
      return false;
    }
    exhausted = false;
    return true;
  }
}
