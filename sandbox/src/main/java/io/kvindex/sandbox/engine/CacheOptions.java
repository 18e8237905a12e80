// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/**
 * A simulated engine's prefix cache.
 *
 * @param hashing how blocks are named
 * @param seed of {@link EngineHashing#RANDOM}; give each engine another one
 * @param pythonHashSeed text vLLM's hashes start from
 * @param blockSize tokens in a block, at least 1
 * @param gpuBlocks device blocks, at least 1; a longer prompt is cached as far as they reach
 * @param hostBlocks blocks of the host tier, 0 = no such tier
 */
public record CacheOptions(
    EngineHashing hashing,
    long seed,
    String pythonHashSeed,
    int blockSize,
    int gpuBlocks,
    int hostBlocks) {

  public CacheOptions {
    EngineOptions.require(blockSize >= 1, "blockSize", blockSize);
    EngineOptions.require(gpuBlocks >= 1, "gpuBlocks", gpuBlocks);
    EngineOptions.require(hostBlocks >= 0, "hostBlocks", hostBlocks);
  }
}
