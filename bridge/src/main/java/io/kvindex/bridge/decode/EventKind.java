// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Kinds of engine events, by their tags. */
enum EventKind {
  STORED,
  REMOVED,
  CLEARED,
  /** An object of a store, with the block it holds. */
  OBJECT_STORED,
  /** Where an object of a store is now. */
  OBJECT_UPDATED,
  /** A store was emptied. */
  STORE_EMPTIED;

  private static final NameTable<EventKind> BY_TAG =
      new NameTable<>(
          Map.of(
              "BlockStored", STORED,
              "BlockRemoved", REMOVED,
              "AllBlocksCleared", CLEARED,
              "stored", STORED,
              "removed", REMOVED,
              "cleared", CLEARED,
              "BlockStoreEvent", OBJECT_STORED,
              "BlockUpdateEvent", OBJECT_UPDATED,
              "RemoveAllEvent", STORE_EMPTIED));

  /** The kind an engine's class name or the standard's event type stands for, null if unknown. */
  static @Nullable EventKind byTag(byte[] bytes, int from, int length) {
    return BY_TAG.find(bytes, from, length);
  }
}
