// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Map;

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

  /** Kinds by an engine's class names and the standard's event types. */
  static final NameTable<EventKind> BY_TAG =
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
}
