// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.testing.drill.DrillOptions.Load;
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
  private final int turns;
  private volatile long operations;

  /**
   * @param turns in a step, see {@link #turns}
   * @param gate closed while nothing may be published
   */
  EngineLoad(List<DrillEngine> engines, Load load, int turns, Semaphore gate, long seed) {
    this.engines = engines;
    this.operationsPerSecond = load.operations();
    this.turns = turns;
    this.gate = gate;
    this.random = new Random(seed);
  }

  /**
   * Turns in a step of an engine, of which each stores as many blocks as it evicts: as few as keep
   * the engines, with their markers, at their batches a second.
   */
  static int turns(Load load, int tables) {
    long markers = tables * TimeUnit.SECONDS.toNanos(1) / Markers.EVERY_NS;
    long steps = Math.max(load.instances(), (long) load.instances() * load.batches() - markers);
    long operations = steps * 2 * DrillEngine.TURN;
    return Math.toIntExact((load.operations() + operations - 1) / operations);
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
        engine.step(random, turns);
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
