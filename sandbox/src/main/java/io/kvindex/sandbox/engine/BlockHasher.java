// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** Names blocks along a prefix. Used under the engine's lock; implementations keep state. */
interface BlockHasher {
  /** What the first block of a context rolls on. */
  BlockHash root(CacheContext context);

  /**
   * The hash of the block after {@code parent}.
   *
   * @param first whether this is the prompt's first block, where vLLM mixes the salt in
   */
  BlockHash next(BlockHash parent, int[] tokens, CacheContext context, boolean first);
}
