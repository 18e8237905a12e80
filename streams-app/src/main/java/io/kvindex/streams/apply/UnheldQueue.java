// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import java.util.Arrays;

/**
 * Blocks in the order they lost their last holder, each once, about 30 bytes each: there may be a
 * million. For one thread.
 */
final class UnheldQueue {

  private static final int SMALLEST = 1024;

  /** Space, its complement where the meaning may be gone already. */
  private int[] spaces = new int[SMALLEST];

  private long[] hashes = new long[SMALLEST];
  private long[] lookupKeys = new long[SMALLEST];
  private final KnownHashes queued = new KnownHashes();
  private int head;
  private int size;

  /** Takes the oldest block. */
  interface Taker {
    void take(int space, long hash, long lookupKey, boolean meant);
  }

  int size() {
    return size;
  }

  /** A block that is in the queue already keeps its turn. */
  void add(int space, long hash, long lookupKey, boolean meant) {
    if (queued.mayContain(space, hash)) {
      return;
    }
    queued.add(space, hash);
    if (size == spaces.length) {
      grow();
    }
    int at = head + size & spaces.length - 1;
    spaces[at] = meant ? space : ~space;
    hashes[at] = hash;
    lookupKeys[at] = lookupKey;
    size++;
  }

  /** Hands out the oldest; there must be one. */
  void remove(Taker taker) {
    int at = head;
    head = head + 1 & spaces.length - 1;
    size--;
    int space = spaces[at] < 0 ? ~spaces[at] : spaces[at];
    queued.remove(space, hashes[at]);
    taker.take(space, hashes[at], lookupKeys[at], spaces[at] >= 0);
  }

  private void grow() {
    int doubled = spaces.length * 2;
    int[] newSpaces = Arrays.copyOfRange(spaces, head, head + doubled);
    long[] newHashes = Arrays.copyOfRange(hashes, head, head + doubled);
    long[] newKeys = Arrays.copyOfRange(lookupKeys, head, head + doubled);
    int tail = spaces.length - head;
    System.arraycopy(spaces, 0, newSpaces, tail, head);
    System.arraycopy(hashes, 0, newHashes, tail, head);
    System.arraycopy(lookupKeys, 0, newKeys, tail, head);
    spaces = newSpaces;
    hashes = newHashes;
    lookupKeys = newKeys;
    head = 0;
  }
}
