// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps engines busy so that together they store and evict so many blocks a second. A machine that
 * is too slow for that does less: nothing is made up for later than a second.
 */
final class EngineLoad implements Runnable {

  private static final long BEHIND_NS = TimeUnit.SECONDS.toNanos(1);

  private final List<DrillEngine> engines;
  private final long operationsPerSecond;
  private final Semaphore gate;
  private final Random random;
  private volatile long operations;

  /**
   * @param gate closed while nothing may be published
   */
  EngineLoad(List<DrillEngine> engines, long operationsPerSecond, Semaphore gate, long seed) {
    this.engines = engines;
    this.operationsPerSecond = operationsPerSecond;
    this.gate = gate;
    this.random = new Random(seed);
  }

  @Override
  public void run() {
    long dueNs = System.nanoTime();
    int turn = 0;
    while (!Thread.currentThread().isInterrupted()) {
      DrillEngine engine = engines.get(turn++ % engines.size());
      gate.acquireUninterruptibly();
      long before = engine.operations();
      try {
        engine.turn(random);
      } finally {
        gate.release();
      }
      long done = engine.operations() - before;
      operations += done;
      dueNs += done * TimeUnit.SECONDS.toNanos(1) / operationsPerSecond;
      long now = System.nanoTime();
      dueNs = Math.max(dueNs, now - BEHIND_NS);
      if (dueNs - now > 0) {
        LockSupport.parkNanos(dueNs - now);
      }
    }
  }

  /** Blocks stored and evicted so far; markers are not among them. */
  long operations() {
    return operations;
  }
}
