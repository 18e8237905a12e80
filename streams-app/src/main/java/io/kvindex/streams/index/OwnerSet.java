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

  /** In quarantine, waiting for its readers; may have come back to life meanwhile. */
  boolean queued;

  /** Came back to life since it was queued, so the time it was queued at says nothing any more. */
  boolean revived;

  /** Its id may have been given to another set. */
  boolean dead;

  /** Mark of the last journal that names it, which it may outlive by far, and its number there. */
  @Nullable Object notedIn;

  int notedAs;

  /** Next set in the same bucket of the intern table. */
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

  boolean isEmptyWithout(int slot) {
    int word = slot >>> 6;
    return words.length == word + 1 && words[word] == 1L << slot && onlyLastWordSet();
  }

  private boolean onlyLastWordSet() {
    for (int i = 0; i < words.length - 1; i++) {
      if (words[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether this set equals {@code other} with one bit flipped. */
  boolean equalsFlipped(OwnerSet other, int slot) {
    int flippedWord = slot >>> 6;
    int length = Math.max(Math.max(words.length, other.words.length), flippedWord + 1);
    for (int i = 0; i < length; i++) {
      long expected = other.word(i) ^ (i == flippedWord ? 1L << slot : 0);
      if (word(i) != expected) {
        return false;
      }
    }
    return true;
  }

  /** A new array: these bits with one flipped, without trailing zero words. */
  long[] flipped(int slot) {
    int flippedWord = slot >>> 6;
    int length = Math.max(words.length, flippedWord + 1);
    while (length > 0 && (word(length - 1) ^ bitIn(length - 1, slot)) == 0) {
      length--;
    }
    long[] result = new long[length];
    for (int i = 0; i < length; i++) {
      result[i] = word(i) ^ bitIn(i, slot);
    }
    return result;
  }

  private static long bitIn(int word, int slot) {
    return word == slot >>> 6 ? 1L << slot : 0;
  }

  private long word(int i) {
    return i < words.length ? words[i] : 0;
  }
}
