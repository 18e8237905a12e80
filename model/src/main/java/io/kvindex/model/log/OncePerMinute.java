// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.log;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps one cause from filling the log: what is not logged is still counted. Thread-safe. */
public final class OncePerMinute {

  private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);

  private final AtomicLong nextNs = new AtomicLong(System.nanoTime());

  /** Whether to log now. */
  public boolean allows() {
    long now = System.nanoTime();
    long next = nextNs.get();
    return now - next >= 0 && nextNs.compareAndSet(next, now + MINUTE_NS);
  }
}
