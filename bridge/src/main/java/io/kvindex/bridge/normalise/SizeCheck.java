// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import org.jspecify.annotations.Nullable;

/**
 * Notices a registered block size that is not the events': nothing of them is indexed, and every
 * query misses. What counts is the last event that stated a size; those that state none, as
 * placeholders of offloaded blocks, tell nothing. For one thread.
 */
final class SizeCheck {

  /** So many beginnings of blocks, and not one whole block, are no beginnings. */
  private static final int MANY_PARTIAL = 64;

  /** The other size that events state, 0 = they do not. */
  private int differing;

  private boolean fitted;
  private int partial;

  /** Blocks of the registered size were stored. */
  void fits() {
    differing = 0;
    fitted = true;
  }

  /** Blocks of another size were stored, by a source that has one size only. */
  void differs(int stated) {
    differing = stated;
  }

  /**
   * Blocks of another size were stored, by a source that may well hold those of others too: where
   * some have the registered size, the registration is right.
   */
  void differsInPart(int stated) {
    if (!fitted) {
      differs(stated);
    }
  }

  /** What may be the beginning of a larger block was stored. */
  void isPartial(int stated) {
    if (!fitted && ++partial >= MANY_PARTIAL) {
      differs(stated);
    }
  }

  /**
   * How events contradict the registered size, for people; null = they do not, or tell none.
   * Connectors to lower tiers may use chunks of their own size where the engine's own blocks on the
   * device fit well; those are only skipped.
   */
  @Nullable String problem(int registered) {
    if (differing == 0) {
      return null;
    }
    String text = "events have block_size " + differing + ", registered is " + registered + ": ";
    return differing > registered && differing % registered == 0
        ? text
            + "register the events' size, which is "
            + differing / registered
            + " times yours (dcp x pcp)"
        : text + "register the events' size";
  }
}
