// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import java.util.function.LongSupplier;

/**
 * How long a stream thread's last commit took, and when it was over: no record is applied
 * meanwhile, so who asks for more commits has to know. One per stream thread, of which alone it is
 * used.
 */
public final class CommitTime {

  private static final ThreadLocal<CommitTime> OF_THREAD =
      ThreadLocal.withInitial(() -> new CommitTime(System::nanoTime));

  private final LongSupplier clock;
  private boolean underWay;
  private long begunNs;
  private long tookNs;
  private long endedNs;

  /**
   * @param clock in ns
   */
  CommitTime(LongSupplier clock) {
    this.clock = clock;
    endedNs = clock.getAsLong();
  }

  /** That of the calling thread. */
  public static CommitTime ofThisThread() {
    return OF_THREAD.get();
  }

  /** A commit begins, unless one has begun. */
  public void begins() {
    if (!underWay) {
      underWay = true;
      begunNs = clock.getAsLong();
    }
  }

  /** What has begun was no commit: there was nothing to be committed. */
  public void isNone() {
    underWay = false;
  }

  /** The commit is over, well or not. */
  public void ends() {
    begins();
    underWay = false;
    endedNs = clock.getAsLong();
    tookNs = endedNs - begunNs;
  }

  /** Whether so many times as long as the last one took has gone by since it was over. */
  boolean isLongAgo(int times) {
    return clock.getAsLong() - endedNs >= times * tookNs;
  }
}
