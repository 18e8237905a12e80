// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the set that already has given bits. Chained linear hashing: one bucket is split where
 * there are more sets than buckets, so no insertion pays for a rehash of all. Used by the writer
 * only.
 */
final class InternTable {

  private static final int SMALLEST = 64;

  private @Nullable OwnerSet[] buckets = new OwnerSet[2 * SMALLEST];
  private int base = SMALLEST;
  private int split;
  private int sets;

  @Nullable OwnerSet find(long hash, OwnerSet from, int flippedSlot) {
    OwnerSet set = buckets[bucket(hash)];
    while (set != null && (set.hash != hash || !set.equalsFlipped(from, flippedSlot))) {
      set = set.next;
    }
    return set;
  }

  @Nullable OwnerSet find(long hash, long[] words) {
    OwnerSet set = buckets[bucket(hash)];
    while (set != null && (set.hash != hash || !Arrays.equals(set.words, words))) {
      set = set.next;
    }
    return set;
  }

  void add(OwnerSet set) {
    push(bucket(set.hash), set);
    if (++sets > base + split) {
      splitOne();
    }
  }

  /** Heap the buckets take, in bytes. */
  long bytes() {
    return 16 + 4L * buckets.length;
  }

  void remove(OwnerSet set) {
    int bucket = bucket(set.hash);
    OwnerSet at = buckets[bucket];
    if (at == set) {
      buckets[bucket] = set.next;
    } else {
      while (at != null && at.next != set) {
        at = at.next;
      }
      if (at == null) {
        throw new IllegalStateException("BUG: set " + set.id + " is not interned");
      }
      at.next = set.next;
    }
    set.next = null;
    sets--;
  }

  private int bucket(long hash) {
    int wide = (int) hash & 2 * base - 1;
    return wide < base + split ? wide : (int) hash & base - 1;
  }

  private void push(int bucket, OwnerSet set) {
    set.next = buckets[bucket];
    buckets[bucket] = set;
  }

  /** Buckets never shrink: they are 4 bytes each and as many as sets existed at a time. */
  private void splitOne() {
    OwnerSet chain = buckets[split];
    buckets[split] = null;
    split++;
    while (chain != null) {
      OwnerSet next = chain.next;
      push(bucket(chain.hash), chain);
      chain = next;
    }
    if (split == base) {
      base *= 2;
      split = 0;
      buckets = Arrays.copyOf(buckets, 2 * base);
    }
  }
}
