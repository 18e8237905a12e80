// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One block at the end of one prefix. Equal when it continues the same node with the same tokens:
 * identity is by content, never by a block hash.
 */
final class TrieNode {
  final @Nullable TrieNode parent;
  final int[] tokens;
  final CacheContext context;
  final int depth;
  private final int keyHash;

  /** Set once, when the node enters the trie; a probe for a look-up has none. */
  @Nullable BlockHash hash;

  int children;

  /** Physical device blocks that hold this content; vLLM keeps duplicates apart. */
  int gpuCopies;

  boolean onHost;

  /** Head of the list of device slots that hold this block, oldest first. */
  @Nullable GpuSlot firstSlot;

  /** A context's root: holds no tokens. */
  TrieNode(CacheContext context, BlockHash hash) {
    this.parent = null;
    this.tokens = new int[0];
    this.context = context;
    this.depth = 0;
    this.hash = hash;
    this.keyHash = context.hashCode();
  }

  TrieNode(TrieNode parent, int[] tokens) {
    this.parent = parent;
    this.tokens = tokens;
    this.context = parent.context;
    this.depth = parent.depth + 1;
    this.keyHash = 31 * parent.keyHash + Arrays.hashCode(tokens);
  }

  boolean isRoot() {
    return parent == null;
  }

  boolean onGpu() {
    return gpuCopies > 0;
  }

  BlockHash hash() {
    if (hash == null) {
      throw new IllegalStateException("a probe has no hash");
    }
    return hash;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // parents are canonical: one node per content
  public boolean equals(@Nullable Object other) {
    return other instanceof TrieNode node
        && node.keyHash == keyHash
        && node.parent == parent
        && Arrays.equals(node.tokens, tokens)
        && node.context.equals(context);
  }

  @Override
  public int hashCode() {
    return keyHash;
  }
}
