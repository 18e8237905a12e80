// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's block pool: a free list in order of eviction, least recently freed first. A free block
 * keeps its content until it is taken for something else. Source: vLLM v1 {@code BlockPool}, {@code
 * FreeKVCacheBlockQueue}. Not thread-safe.
 */
final class GpuPool {

  /** One physical device block. In the free list when no request uses it. */
  static final class Slot {
    /** The cached content; null = empty, or a partial block that cannot be shared. */
    private @Nullable TrieNode node;

    void fill(TrieNode content) {
      node = content;
      content.slots.add(this);
    }

    /** Forgets the content and says what it was; null = nothing cached in it. */
    @Nullable TrieNode empty() {
      TrieNode content = node;
      if (content != null) {
        content.slots.remove(this);
        node = null;
      }
      return content;
    }
  }

  private final List<Slot> all = new ArrayList<>();
  private final Set<Slot> free = new LinkedHashSet<>();

  GpuPool(int capacity) {
    for (int i = 0; i < capacity; i++) {
      all.add(new Slot());
    }
    free.addAll(all);
  }

  int capacity() {
    return all.size();
  }

  /** Every slot, in no useful order. */
  List<Slot> slots() {
    return all;
  }

  /** Takes the oldest block that holds this content out of the free list. */
  Slot touch(TrieNode node) {
    Slot slot = node.slots.get(0);
    if (!free.remove(slot)) {
      throw new IllegalStateException("BUG: block is in use, not free");
    }
    return slot;
  }

  /** Takes the block that was free the longest; its old content is still in it. */
  Slot take() {
    Iterator<Slot> oldest = free.iterator();
    if (!oldest.hasNext()) {
      throw new IllegalStateException("no free block: the request is larger than the pool");
    }
    Slot slot = oldest.next();
    oldest.remove();
    return slot;
  }

  /** Puts a block at the end of the free list. */
  void release(Slot slot) {
    free.add(slot);
  }
}
