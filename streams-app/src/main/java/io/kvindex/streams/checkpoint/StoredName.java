// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.index.NameChanges;
import io.kvindex.streams.index.NameSink;
import java.util.Arrays;

/** A name as it is stored. One object for all names of a pass. */
public final class StoredName implements NameSink {

  private long hash;
  private long key;
  private long context;
  private long local;
  private long parent;
  private int depth;
  private long[] holders = new long[8];
  private int holderCount;
  private long[] counts = new long[8];
  private int countCount;

  StoredName() {}

  @Override
  public void add(
      int spaceRef,
      long mixed,
      long lookupKey,
      long contextHash,
      int blocksBefore,
      boolean surely,
      long localHash,
      long parentHash) {
    hash = NameChanges.hashOf(mixed);
    key = lookupKey;
    context = contextHash;
    depth = blocksBefore;
    local = localHash;
    parent = parentHash;
    holderCount = 0;
    countCount = 0;
  }

  @Override
  public void holder(long number) {
    if (holderCount == holders.length) {
      holders = Arrays.copyOf(holders, 2 * holderCount);
    }
    holders[holderCount++] = number;
  }

  @Override
  public void copies(long of, long number) {
    if (2 * countCount == counts.length) {
      counts = Arrays.copyOf(counts, 2 * counts.length);
    }
    counts[2 * countCount] = of;
    counts[2 * countCount++ + 1] = number;
  }

  @Override
  public void place(int inRing) {
    // Of no interest to who asks what is held.
  }

  /** The engine's name for the block. */
  public long hash() {
    return hash;
  }

  /** Key in the index. */
  public long key() {
    return key;
  }

  /** Adapter, namespace, salt and images, folded. */
  public long context() {
    return context;
  }

  /** Hash of the block's own tokens, 0 = never told. */
  public long local() {
    return local;
  }

  /** Engine hash of the block before, 0 = none. */
  public long parent() {
    return parent;
  }

  /** Blocks before it. */
  public int depth() {
    return depth;
  }

  /** How many hold it. */
  public int holders() {
    return holderCount;
  }

  /** One of them, see {@link io.kvindex.streams.index.StoredHolders}. */
  public long holder(int n) {
    return holders[n];
  }

  /**
   * What is known of a holder's copies in a group: certain ones in the upper half, undecided ones
   * in the lower.
   *
   * @param otherwise where nothing is said
   */
  public long copies(int holderId, int group, long otherwise) {
    long of = (long) holderId << 8 | group;
    for (int i = 0; i < countCount; i++) {
      if (counts[2 * i] == of) {
        return counts[2 * i + 1];
      }
    }
    return otherwise;
  }

  /** How many holders have other than one certain copy. */
  public int counts() {
    return countCount;
  }

  /** The id of one of those, and in the lower 8 bits the group. */
  public long countOf(int n) {
    return counts[2 * n];
  }

  /** Its copies, as {@link #copies(int, int, long)}. */
  public long countAt(int n) {
    return counts[2 * n + 1];
  }
}
