// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a replica that starts from being ready while some partition has a single whole copy: a
 * rolling restart goes on when it is, and would stop the replica that has it. Once over it is over:
 * one that takes traffic must not leave it because another has died. For any thread.
 */
final class SingleCopies {

  private static final Logger LOG = LoggerFactory.getLogger(SingleCopies.class);

  /** One may be lost without a gap in fresh answers. */
  private static final int ENOUGH = 2;

  /** A group that does not come to that in so long has another problem than this one's start. */
  static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final IndexPartitions here;
  private final StatusWatch others;
  private final LongSupplier nanoTime;
  private boolean over;
  private @Nullable Long sinceNs;

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  SingleCopies(IndexPartitions here, StatusWatch others, LongSupplier nanoTime) {
    this.here = here;
    this.others = others;
    this.nanoTime = nanoTime;
  }

  /** Why a replica that is ready otherwise is not yet, null = it is. */
  synchronized @Nullable String notReadyReason() {
    if (over) {
      return null;
    }
    String reason = single();
    long now = nanoTime.getAsLong();
    long since = sinceNs == null ? now : sinceNs;
    sinceNs = since;
    if (reason != null && now - since > LONGEST_NANOS) {
      LOG.warn(
          "ready all the same after {} s: {}", TimeUnit.NANOSECONDS.toSeconds(now - since), reason);
      reason = null;
    }
    over = reason == null;
    return reason;
  }

  private @Nullable String single() {
    if (here.copies() < ENOUGH || others.takingTraffic() == 0) {
      return null;
    }
    for (int partition = 0; partition < here.partitions(); partition++) {
      if (others.copies(partition) + (isHere(partition) ? 1 : 0) < ENOUGH) {
        return "partition " + partition + " has no second copy yet that is whole and kept up";
      }
    }
    return null;
  }

  private boolean isHere(int partition) {
    PartitionView view = here.view(partition);
    return view != null
        && view.complete()
        && view.state() != State.CLOSED
        && here.keepsUp(partition);
  }
}
