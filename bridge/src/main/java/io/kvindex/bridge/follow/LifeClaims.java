// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.model.progress.BridgeProgress;
import org.jspecify.annotations.Nullable;

/** Where a follower claims the next life of its publisher. Thread-safe. */
@FunctionalInterface
public interface LifeClaims {

  /** Writes the record whose offset will name the life; returns without waiting for it. */
  void claim(BridgeProgress claim, Done done);

  /** How it went; told by another thread. */
  interface Done {
    /**
     * The claim is durable, or is not.
     *
     * @param offset of the record; without meaning if there is a problem
     */
    void done(long offset, @Nullable Exception problem);
  }
}
