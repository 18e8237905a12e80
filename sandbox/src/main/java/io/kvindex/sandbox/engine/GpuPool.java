// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's block pool: a free list in order of eviction, least recently freed first. A free block
 * keeps its content until it is taken for something else. Source: vLLM v1 {@code BlockPool}, {@code
 * FreeKVCacheBlockQueue}. Not thread-safe.
 */
final class GpuPool {
  private final List<GpuSlot> all = new ArrayList<>();

  /** Sentinel of the circular free list. */
  private final GpuSlot free = new GpuSlot();

  GpuPool(int capacity) {
    free.before = free;
    free.after = free;
    for (int i = 0; i < capacity; i++) {
      GpuSlot slot = new GpuSlot();
      all.add(slot);
      release(slot);
    }
  }

  int capacity() {
    return all.size();
  }

  /** Every slot, in no useful order. */
  List<GpuSlot> slots() {
    return all;
  }

  /** Takes the oldest block that holds this content out of the free list. */
  GpuSlot touch(TrieNode node) {
    GpuSlot slot = node.firstSlot;
    if (slot == null) {
      throw new IllegalStateException("touched a block the device does not hold");
    }
    unlink(slot);
    return slot;
  }

  /** Takes the block that was free the longest; its old content is still in it. */
  GpuSlot take() {
    GpuSlot slot = free.after;
    if (slot == null || slot == free) {
      throw new IllegalStateException("no free block: the request is larger than the pool");
    }
    unlink(slot);
    return slot;
  }

  /** Puts a block at the end of the free list. */
  void release(GpuSlot slot) {
    GpuSlot last = free.before;
    slot.before = last;
    slot.after = free;
    if (last != null) {
      last.after = slot;
    }
    free.before = slot;
  }

  static void fill(GpuSlot slot, TrieNode node) {
    slot.node = node;
    node.gpuCopies++;
    if (node.firstSlot == null) {
      node.firstSlot = slot;
      return;
    }
    GpuSlot last = node.firstSlot;
    while (last.nextCopy != null) {
      last = last.nextCopy;
    }
    last.nextCopy = slot;
  }

  /** Forgets the slot's content and says what it was; null = nothing cached in it. */
  static @Nullable TrieNode empty(GpuSlot slot) {
    TrieNode node = slot.node;
    if (node == null) {
      return null;
    }
    if (node.firstSlot == slot) {
      node.firstSlot = slot.nextCopy;
    } else {
      for (GpuSlot s = node.firstSlot; s != null; s = s.nextCopy) {
        if (s.nextCopy == slot) {
          s.nextCopy = slot.nextCopy;
        }
      }
    }
    slot.node = null;
    slot.nextCopy = null;
    node.gpuCopies--;
    return node;
  }

  private static void unlink(GpuSlot slot) {
    GpuSlot before = slot.before;
    GpuSlot after = slot.after;
    if (before == null || after == null) {
      throw new IllegalStateException("BUG: block is in use, not free");
    }
    before.after = after;
    after.before = before;
    slot.before = null;
    slot.after = null;
  }
}
