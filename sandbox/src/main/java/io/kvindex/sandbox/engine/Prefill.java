// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/**
 * What a prompt found in the cache before it was stored there.
 *
 * @param promptTokens the prompt's length
 * @param gpuTokens tokens found on the device, from the start
 * @param hostTokens tokens found in the host tier after those, now loaded to the device
 * @param recomputedTokens tokens among the found ones that were computed again nevertheless: an
 *     engine needs at least one token to compute, so a prompt found whole loses its last block
 */
public record Prefill(int promptTokens, int gpuTokens, int hostTokens, int recomputedTokens) {
  /** Tokens that were already cached. */
  public int cachedTokens() {
    return gpuTokens + hostTokens;
  }
}
