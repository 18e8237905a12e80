// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prefixes of all contexts as a trie over token lists. Nodes nobody needs are dropped, unless the
 * only memory of their names is this trie. Not thread-safe.
 */
final class BlockTrie {
  private final int blockSize;
  private final boolean keepsAll;
  private final Map<CacheContext, TrieNode> roots = new HashMap<>();
  private final Map<TrieNode, TrieNode> nodes = new HashMap<>();

  BlockTrie(int blockSize, boolean keepsAll) {
    this.blockSize = blockSize;
    this.keepsAll = keepsAll;
  }

  int blockSize() {
    return blockSize;
  }

  /** The block's tokens: {@code index} counts blocks of the prompt from 0. */
  int[] block(int[] tokens, int index) {
    return Arrays.copyOfRange(tokens, index * blockSize, (index + 1) * blockSize);
  }

  TrieNode root(CacheContext context) {
    return roots.computeIfAbsent(context, TrieNode::new);
  }

  @Nullable TrieNode find(TrieNode parent, int[] block) {
    return nodes.get(new TrieNode(parent, block));
  }

  /**
   * @param name of the block if it is a new one
   */
  TrieNode findOrAdd(TrieNode parent, int[] block, long name) {
    TrieNode probe = new TrieNode(parent, block);
    TrieNode known = nodes.get(probe);
    if (known != null) {
      return known;
    }
    probe.hash = name;
    nodes.put(probe, probe);
    parent.children++;
    return probe;
  }

  /** Drops the node and its ancestors as far as no tier and no child needs them. */
  void prune(TrieNode node) {
    TrieNode current = node;
    while (!keepsAll && !current.onGpu() && !current.onHost && current.children == 0) {
      TrieNode parent = current.parent;
      if (parent == null || nodes.remove(current) == null) {
        return;
      }
      parent.children--;
      current = parent;
    }
  }

  /** Which tier holds which block of a prompt; blocks after an unknown one are held by none. */
  Holdings holdings(int[] tokens, CacheContext context) {
    int blocks = tokens.length / blockSize;
    BitSet gpu = new BitSet(blocks);
    BitSet host = new BitSet(blocks);
    TrieNode node = roots.get(context);
    for (int i = 0; i < blocks && node != null; i++) {
      node = find(node, block(tokens, i));
      if (node != null) {
        gpu.set(i, node.onGpu());
        host.set(i, node.onHost);
      }
    }
    return new Holdings(blockSize, blocks, gpu, host);
  }
}
