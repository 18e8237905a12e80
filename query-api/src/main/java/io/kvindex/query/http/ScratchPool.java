// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The in-flight limit and the reuse of buffers in one: who gets no scratch is turned away. The
 * newest one is lent first, because its arrays are still in the cache. Thread-safe.
 */
final class ScratchPool {
  /** Most bodies beyond {@link Scratch#KEPT} held at a time: bounds memory, not requests. */
  static final int MAX_LARGE = 16;

  private final Semaphore large = new Semaphore(MAX_LARGE);
  private final ConcurrentLinkedDeque<Scratch> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger lent = new AtomicInteger();
  private final int limit;
  private final int maxItems;

  ScratchPool(int limit, int maxItems) {
    this.limit = limit;
    this.maxItems = maxItems;
  }

  /** A cleared scratch, null when the limit is reached. */
  @Nullable Scratch lend() {
    if (lent.incrementAndGet() > limit) {
      lent.decrementAndGet();
      return null;
    }
    Scratch scratch = idle.pollFirst();
    return scratch == null ? new Scratch(maxItems) : scratch;
  }

  /** Whether a scratch may grow to a body of that length. */
  boolean mayHold(Scratch scratch, int bytes) {
    if (bytes <= Scratch.KEPT || scratch.large) {
      return true;
    }
    scratch.large = large.tryAcquire();
    return scratch.large;
  }

  void giveBack(Scratch scratch) {
    boolean wasLarge = scratch.large;
    scratch.clear();
    if (wasLarge) {
      large.release();
    }
    idle.addFirst(scratch);
    lent.decrementAndGet();
  }

  int lent() {
    return lent.get();
  }
}
