// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import org.jspecify.annotations.Nullable;

/**
 * What an engine's cache held at one moment: the oracle for an index. A trie over token lists, no
 * block hash takes part in a look-up. Immutable, thread-safe.
 */
public final class CacheContents {
  private final BlockTrie trie;

  CacheContents(BlockTrie frozen) {
    this.trie = frozen;
  }

  /**
   * What is held of a prompt.
   *
   * @param tokens token ids, unsigned 32 bits each
   * @param lora adapter name, null = base model
   * @param salt the request's cache salt, null = none
   */
  public Holdings holdings(int[] tokens, @Nullable String lora, @Nullable String salt) {
    return trie.holdings(tokens, new CacheContext(lora, salt));
  }
}
