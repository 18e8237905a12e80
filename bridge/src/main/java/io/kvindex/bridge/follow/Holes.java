// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.GapResult;
import org.jspecify.annotations.Nullable;

/** Keeps account of the hole a stream stands before, so that each is counted once. I/O thread. */
final class Holes {

  private final FollowStatus status;

  /** First missing sequence, null = none is known. */
  private @Nullable Long open;

  Holes(FollowStatus status) {
    this.status = status;
  }

  /** Something lies beyond a batch that is not here. */
  void found(long missing) {
    if (open == null || open != missing) {
      close(GapResult.MOOT);
      open = missing;
      status.gaps(GapResult.FOUND);
    }
  }

  /** A batch was taken right behind the one before it. */
  void taken(long sequence) {
    if (open != null && open == sequence) {
      close(GapResult.FILLED);
    }
  }

  /** Batches are missing for good. */
  void lost(long from) {
    found(from);
    close(GapResult.LOST);
  }

  /** The life ended: whatever was missing is of no interest any more. */
  void lifeEnded() {
    close(GapResult.MOOT);
  }

  private void close(GapResult how) {
    if (open != null) {
      open = null;
      status.gaps(how);
    }
  }
}
