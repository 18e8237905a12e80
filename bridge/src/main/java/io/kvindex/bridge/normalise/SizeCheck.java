// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.normalise.NormalisedBatch.BlockSizeMismatch;
import org.jspecify.annotations.Nullable;

/**
 * Notices a registered block size that is not the events': nothing of them is indexed, and every
 * query misses. What counts is the last event that stated a size; those that state none, as
 * placeholders of offloaded blocks, tell nothing. For one thread.
 */
final class SizeCheck {

  /** So many beginnings of blocks, and not one whole block, are no beginnings. */
  private static final int MANY_PARTIAL = 64;

  private @Nullable BlockSizeMismatch problem;
  private boolean fitted;
  private int partial;

  /** Blocks of the registered size were stored. */
  void fits() {
    problem = null;
    fitted = true;
  }

  /** Blocks of another size were stored, by a source that has one size only. */
  void differs(@Nullable String medium, int stated) {
    problem = new BlockSizeMismatch(medium, stated);
  }

  /**
   * Blocks of another size were stored, by a source that may well hold those of others too: where
   * some have the registered size, the registration is right.
   */
  void differsInPart(@Nullable String medium, int stated) {
    if (!fitted) {
      differs(medium, stated);
    }
  }

  /** What may be the beginning of a larger block was stored. */
  void isPartial(@Nullable String medium, int stated) {
    if (!fitted && ++partial >= MANY_PARTIAL) {
      differs(medium, stated);
    }
  }

  /** How events contradict the registered size, null = they do not, or tell none. */
  @Nullable BlockSizeMismatch problem() {
    return problem;
  }
}
