// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.model.event.Parent;
import io.kvindex.streams.checkpoint.StoredName;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.DumpVisitor;
import java.io.IOException;
import java.util.Arrays;

/**
 * A bounded number of one owner's blocks, told in runs with no block before its parent. They are
 * those of a window of depths: where there are too many, the deeper half is dropped and the window
 * shrinks; they come in a later round, behind what is told in this one.
 */
final class BlockChunk {

  /** Blocks of a run at most, so that who reads it needs little memory too. */
  private static final int LONGEST_RUN = 256;

  private static final int SMALLEST = 1_024;
  private static final int NONE = -1;

  private final int capacity;
  private int size;
  private int from;
  private int to = Integer.MAX_VALUE;
  private boolean dropped;
  private long[] hashes = new long[SMALLEST];
  private long[] locals = new long[SMALLEST];
  private long[] parents = new long[SMALLEST];
  private long[] contexts = new long[SMALLEST];
  private int[] depths = new int[SMALLEST];

  /**
   * @param capacity blocks, at least 2
   */
  BlockChunk(int capacity) {
    this.capacity = capacity;
  }

  /** Keeps a block if its depth is in the window. */
  void add(StoredName name) {
    if (name.depth() < from) {
      return;
    }
    if (name.depth() >= to) {
      dropped = true;
      return;
    }
    if (size == hashes.length) {
      grow();
    }
    hashes[size] = name.hash();
    locals[size] = name.local();
    parents[size] = name.parent();
    contexts[size] = name.context();
    depths[size++] = name.depth();
  }

  private void grow() {
    int length = Math.min(capacity, 2 * hashes.length);
    hashes = Arrays.copyOf(hashes, length);
    locals = Arrays.copyOf(locals, length);
    parents = Arrays.copyOf(parents, length);
    contexts = Arrays.copyOf(contexts, length);
    depths = Arrays.copyOf(depths, length);
  }

  boolean isFull() {
    return size >= capacity;
  }

  /**
   * Drops the deeper half; false if all are of the window's first depth, before which nothing
   * comes: they may be told in any order and so at once.
   */
  boolean shrink() {
    int[] sorted = Arrays.copyOf(depths, size);
    Arrays.sort(sorted);
    int first = sorted[0];
    boolean all = first == sorted[size - 1];
    int middle = all && first > from ? first : Math.max(sorted[size / 2], first + 1);
    dropped |= middle <= sorted[size - 1];
    to = Math.min(to, middle);
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (depths[i] < to) {
        hashes[kept] = hashes[i];
        locals[kept] = locals[i];
        parents[kept] = parents[i];
        contexts[kept] = contexts[i];
        depths[kept++] = depths[i];
      }
    }
    size = kept;
    return size < capacity;
  }

  /** Goes on with what was dropped; false if nothing was. */
  boolean goOn() {
    boolean more = dropped;
    from = to;
    to = Integer.MAX_VALUE;
    dropped = false;
    return more;
  }

  /** Tells all blocks and forgets them. */
  void tell(Owner owner, DumpVisitor visitor) throws IOException {
    int[] order = byDepth();
    HashPlaces childOf = new HashPlaces(size);
    for (int i = size - 1; i >= 0; i--) {
      if (depths[order[i]] > 0) {
        childOf.put(parents[order[i]], order[i]);
      }
    }
    boolean[] told = new boolean[size];
    long[] runHashes = new long[LONGEST_RUN];
    long[] runLocals = new long[LONGEST_RUN];
    for (int start : order) {
      int count = 0;
      for (int at = start; at != NONE && count < LONGEST_RUN && !told[at]; ) {
        told[at] = true;
        runHashes[count] = hashes[at];
        runLocals[count++] = locals[at];
        int child = childOf.get(hashes[at]);
        at = child != NONE && follows(child, at) ? child : NONE;
      }
      if (count > 0) {
        visitor.run(owner, contexts[start], parent(start), runHashes, runLocals, count);
      }
    }
    size = 0;
  }

  private boolean follows(int child, int parent) {
    return depths[child] == depths[parent] + 1 && contexts[child] == contexts[parent];
  }

  /** Names that are prefix hashes have no depth and maybe no parent. */
  private Parent parent(int block) {
    if (depths[block] == 0 && parents[block] == 0) {
      return Parent.ROOT;
    }
    return Parent.of(parents[block]);
  }

  private int[] byDepth() {
    long[] keys = new long[size];
    for (int i = 0; i < size; i++) {
      keys[i] = (long) depths[i] << Integer.SIZE | i;
    }
    Arrays.sort(keys);
    int[] order = new int[size];
    for (int i = 0; i < size; i++) {
      order[i] = (int) keys[i];
    }
    return order;
  }
}
