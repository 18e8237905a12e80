// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import org.jspecify.annotations.Nullable;

/**
 * At which depth of a prompt blocks were said to stand, to notice a publisher that contradicts
 * itself. Remembers the newest hash a slot, so its size is fixed and what it forgets is only not
 * noticed. For one thread.
 */
final class Depths {

  private static final int SLOTS = 1 << 15;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final long[] hashes = new long[SLOTS];

  /** Depth + 1, 0 = nothing known. */
  private final long[] depths = new long[SLOTS];

  /** The depth a block is known at, null = not known. */
  @Nullable Long of(long hash) {
    int slot = slot(hash);
    return depths[slot] != 0 && hashes[slot] == hash ? Long.valueOf(depths[slot] - 1) : null;
  }

  void learn(long hash, long depth) {
    int slot = slot(hash);
    hashes[slot] = hash;
    depths[slot] = depth + 1;
  }

  private static int slot(long hash) {
    return (int) (hash * GOLDEN >>> 49);
  }
}
