// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import org.jspecify.annotations.Nullable;

/** One physical device block. In the free list when no request uses it; content stays meanwhile. */
final class GpuSlot {
  /** The cached content; null = empty, or a partial block that cannot be shared. */
  @Nullable TrieNode node;

  /** Next slot that holds the same content. */
  @Nullable GpuSlot nextCopy;

  @Nullable GpuSlot before;
  @Nullable GpuSlot after;
}
