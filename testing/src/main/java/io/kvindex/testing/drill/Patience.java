// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waiting with an end. */
final class Patience {

  /** Each look at a condition may be a question to every replica. */
  private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Something that is waited for; looked at again and again. */
  interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  private Patience() {}

  /** Waits for that; whether it came in time. */
  static boolean await(DrillLoad load, long withinMs, Condition condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
    while (!condition.holds()) {
      load.requireGoing();
      if (Thread.interrupted()) {
        throw new InterruptedException("the drill is being stopped");
      }
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      LockSupport.parkNanos(TURN_NS);
    }
    return true;
  }

  /** Lets time pass. */
  static void pause(DrillLoad load, long ms) throws IOException, InterruptedException {
    await(load, ms, () -> false);
  }
}
