// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells writers when no reader can still hold something they unlinked. Shared by any number of
 * tables, their writers and readers.
 *
 * <p>A reader announces the current epoch before its first read and withdraws it after its last. A
 * writer unlinks, then takes a {@link #stamp()}; the thing may be reused once {@link
 * #oldestReader()} is above that stamp. Why that is enough:
 *
 * <ul>
 *   <li>A reader that announced an epoch above the stamp read the counter after the increment,
 *       which the writer did after unlinking: it cannot find the thing any more.
 *   <li>A reader whose announcement {@code oldestReader()} did not see yet: announcing is a
 *       compare-and-set followed by its reads, scanning is a full fence preceded by the unlinking;
 *       of the two, the later one sees the earlier, so that reader sees the thing unlinked.
 * </ul>
 */
public final class Epochs {

  /** Walks that may run at the same instant, unless told otherwise. */
  public static final int DEFAULT_READERS = 256;

  private static final VarHandle SLOTS = MethodHandles.arrayElementVarHandle(long[].class);

  /** Two cache lines apart: no false sharing, also with a prefetcher that fetches pairs. */
  private static final int STRIDE = 16;

  private static final long IDLE = 0;

  private final long[] slots;
  private final int readers;
  private final AtomicLong epoch = new AtomicLong(1);

  /** With room for {@value #DEFAULT_READERS} walks at a time. */
  public Epochs() {
    this(DEFAULT_READERS);
  }

  /**
   * @param readers how many walks may run at the same instant, at least 1
   */
  public Epochs(int readers) {
    if (readers < 1) {
      throw new IllegalArgumentException("readers must be at least 1, was " + readers);
    }
    this.readers = readers;
    slots = new long[(readers + 1) * STRIDE];
  }

  /**
   * Announces a reader.
   *
   * @param hint where to look first; a reader that passes what it got last time finds it free
   * @return the place to give to {@link #exit}
   * @throws IllegalStateException when all places are taken: more walks at the same instant than
   *     this object was made for
   */
  int enter(int hint) {
    long now = epoch.get();
    for (int i = 0; i < readers; i++) {
      int place = (hint + i) % readers;
      int at = (place + 1) * STRIDE;
      if ((long) SLOTS.getOpaque(slots, at) == IDLE && SLOTS.compareAndSet(slots, at, IDLE, now)) {
        return place;
      }
    }
    throw new IllegalStateException("more than " + readers + " index walks at the same instant");
  }

  void exit(int place) {
    SLOTS.setRelease(slots, (place + 1) * STRIDE, IDLE);
  }

  /** Closes the current epoch: what was unlinked before this call belongs to the one returned. */
  long stamp() {
    return epoch.getAndIncrement();
  }

  /** Lowest epoch any running reader announced, {@link Long#MAX_VALUE} if none runs. */
  long oldestReader() {
    VarHandle.fullFence();
    long oldest = Long.MAX_VALUE;
    for (int place = 1; place <= readers; place++) {
      long announced = (long) SLOTS.getAcquire(slots, place * STRIDE);
      if (announced != IDLE && announced < oldest) {
        oldest = announced;
      }
    }
    return oldest;
  }
}
