// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * Names in the order they lost their last holder. How far back in it a name stands decides whether
 * its meaning is still kept, so that this depends on the log alone. A name that is held again stays
 * where it was and means nothing there: its entry does not name the place any more. For the writer
 * alone.
 */
final class UnheldRing {

  private int[] spaces = new int[64];
  private long[] hashes = new long[64];
  private long head;
  private long tail;

  /** Puts a name at the end; its place. */
  long add(int space, long hash) {
    if (tail - head == hashes.length) {
      grow();
    }
    int at = (int) tail & hashes.length - 1;
    spaces[at] = space;
    hashes[at] = hash;
    return tail++;
  }

  /** The first place there is. */
  long head() {
    return head;
  }

  /** One more than the last place. */
  long tail() {
    return tail;
  }

  /** The space of the name at a place, negative = there is none. */
  int space(long place) {
    return spaces[(int) place & hashes.length - 1];
  }

  /** Its hash. */
  long hash(long place) {
    return hashes[(int) place & hashes.length - 1];
  }

  void removeFirst() {
    head++;
  }

  /** Empties it: places from one number up to another are to be filled. */
  void restore(long from, long to) {
    head = from;
    tail = to;
    int length = Math.max(64, Integer.highestOneBit((int) Math.max(1, to - from - 1)) << 1);
    spaces = new int[length];
    hashes = new long[length];
    Arrays.fill(spaces, -1);
  }

  /** Whether a place is not filled. */
  boolean isFree(long place) {
    return spaces[(int) place & hashes.length - 1] < 0;
  }

  /** Fills a place; one that is not filled has a name that is held again. */
  void restore(long place, int space, long hash) {
    spaces[(int) place & hashes.length - 1] = space;
    hashes[(int) place & hashes.length - 1] = hash;
  }

  private void grow() {
    int length = hashes.length;
    int[] moreSpaces = new int[2 * length];
    long[] moreHashes = new long[2 * length];
    for (long place = head; place < tail; place++) {
      moreSpaces[(int) place & 2 * length - 1] = spaces[(int) place & length - 1];
      moreHashes[(int) place & 2 * length - 1] = hashes[(int) place & length - 1];
    }
    spaces = moreSpaces;
    hashes = moreHashes;
  }
}
