// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.bridge.zmq.IoLoop;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes given to the producer and not acknowledged yet. Once it is used up no loop reads its
 * sockets until half of it is free again, so a slow broker stops the reading instead of filling the
 * heap, and a loop that has to wait is not kept waiting by others that go on. Thread-safe.
 */
public final class SendBudget {

  private final long maxBytes;
  private final AtomicLong inFlight = new AtomicLong();

  /** Used up, and not half free since: of all loops, each of which sees it when it asks. */
  private volatile boolean exhausted;

  private final List<LoopGate> gates = new CopyOnWriteArrayList<>();

  /**
   * @param maxBytes limit in bytes; exceeded by one batch of each loop at most
   */
  public SendBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** A gate for one more loop. */
  public IoLoop.Gate gate() {
    LoopGate gate = new LoopGate();
    gates.add(gate);
    return gate;
  }

  /** Bytes in flight. */
  public long inFlightBytes() {
    return inFlight.get();
  }

  void take(long bytes) {
    inFlight.addAndGet(bytes);
  }

  void give(long bytes) {
    if (inFlight.addAndGet(-bytes) > maxBytes / 2) {
      return;
    }
    for (LoopGate gate : gates) {
      if (gate.closed) {
        gate.reopening.run();
      }
    }
  }

  private final class LoopGate implements IoLoop.Gate {
    private volatile boolean closed;
    private volatile Runnable reopening = () -> {};

    @Override
    public void onReopening(Runnable listener) {
      reopening = listener;
    }

    @Override
    public boolean hasRoom() {
      if (!exhausted && inFlight.get() < maxBytes) {
        return true;
      }
      exhausted = true;
      closed = true; // whoever says so tries to reopen it, so it does not stay so
      return false;
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public boolean tryReopen() {
      if (exhausted && inFlight.get() > maxBytes / 2) {
        return false;
      }
      exhausted = false;
      closed = false;
      return true;
    }
  }
}
