// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import org.jspecify.annotations.Nullable;

/**
 * One interned owner set. The bits never change; everything else belongs to the writer, readers
 * touch {@link #words} only.
 */
final class OwnerSet {

  /** Bit per owner slot; the last word is never 0. */
  final long[] words;

  final int id;
  final long hash;

  /** Blocks that name this set. */
  int references;

  /** No block named it any more, so its id waits for readers; one may name it again meanwhile. */
  boolean waiting;

  /** One did, so the time it has waited since says nothing any more. */
  boolean revived;

  /** Its id may have been given to another set. */
  boolean dead;

  /** Mark of the last journal that names it, which it may outlive by far, and its number there. */
  @Nullable Object notedIn;

  int notedAs;

  /** Next set with the same lower bits of its hash. */
  @Nullable OwnerSet next;

  OwnerSet(int id, long hash, long[] words) {
    this.id = id;
    this.hash = hash;
    this.words = words;
  }

  boolean contains(int slot) {
    int word = slot >>> 6;
    return word < words.length && (words[word] & 1L << slot) != 0;
  }
}
