// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.SplittableRandom;

/**
 * Names without any relation to content: proof that an index does not lean on the engine's hashes.
 * The memory of who got which number is the {@link BlockTrie}, which keeps every node for it.
 */
final class RandomHasher implements BlockHasher {
  private static final byte[] NO_DIGEST = new byte[0];

  private final SplittableRandom random;

  RandomHasher(long seed) {
    random = new SplittableRandom(seed);
  }

  @Override
  public BlockHash root(CacheContext context) {
    return new BlockHash(0, NO_DIGEST);
  }

  @Override
  public BlockHash next(BlockHash parent, int[] tokens, CacheContext context, boolean first) {
    return new BlockHash(random.nextLong(), NO_DIGEST);
  }
}
