// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One block at the end of one prefix. Equal when it continues the same node with the same tokens:
 * identity is by content, never by a block hash.
 */
final class TrieNode {
  final @Nullable TrieNode parent;
  final int[] tokens;
  final CacheContext context;
  private final int keyHash;

  /** The 64 bits sent on the wire; set once, when the node enters the trie. */
  long hash;

  int children;
  boolean onHost;

  /** Device slots that hold this block, oldest first; vLLM keeps duplicates apart. */
  final List<GpuPool.Slot> slots = new ArrayList<>(0);

  /** A context's root: holds no tokens. */
  TrieNode(CacheContext context) {
    this.parent = null;
    this.tokens = new int[0];
    this.context = context;
    this.keyHash = context.hashCode();
  }

  TrieNode(TrieNode parent, int[] tokens) {
    this.parent = parent;
    this.tokens = tokens;
    this.context = parent.context;
    this.keyHash = 31 * parent.keyHash + Arrays.hashCode(tokens);
  }

  boolean isRoot() {
    return parent == null;
  }

  boolean onGpu() {
    return !slots.isEmpty();
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
