// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The host tier: a set of blocks of bounded size, least recently used first. Not thread-safe. */
final class HostTier {
  private final int capacity;
  private final LinkedHashSet<TrieNode> blocks = new LinkedHashSet<>();

  HostTier(int capacity) {
    this.capacity = capacity;
  }

  boolean isFull() {
    return blocks.size() >= capacity;
  }

  boolean isAbsent() {
    return capacity == 0;
  }

  List<TrieNode> blocks() {
    return List.copyOf(blocks);
  }

  /** Marks as just used. */
  void touch(TrieNode node) {
    if (blocks.remove(node)) {
      blocks.add(node);
    }
  }

  void add(TrieNode node) {
    blocks.add(node);
    node.onHost = true;
  }

  /** Removes and returns the least recently used block; null when that one is being loaded. */
  @Nullable TrieNode evict(Set<TrieNode> loading) {
    Iterator<TrieNode> oldest = blocks.iterator();
    TrieNode node = oldest.next();
    if (loading.contains(node)) {
      return null;
    }
    oldest.remove();
    node.onHost = false;
    return node;
  }

  void clear() {
    blocks.forEach(node -> node.onHost = false);
    blocks.clear();
  }
}
