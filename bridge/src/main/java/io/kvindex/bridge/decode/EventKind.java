// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Kinds of engine events, by their tags. */
enum EventKind {
  STORED,
  REMOVED,
  CLEARED;

  private static final NameTable<EventKind> BY_TAG =
      new NameTable<>(
          Map.of(
              "BlockStored", STORED,
              "BlockRemoved", REMOVED,
              "AllBlocksCleared", CLEARED,
              "stored", STORED,
              "removed", REMOVED,
              "cleared", CLEARED));

  /** The kind an engine's class name or the standard's event type stands for, null if unknown. */
  static @Nullable EventKind byTag(byte[] bytes, int from, int length) {
    return BY_TAG.find(bytes, from, length);
  }
}
