// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.Arrays;

/**
 * How many blocks of a text, from its beginning, one engine held at which time. A change takes
 * place between two moments; meanwhile anything between the numbers before and after is true.
 * Thread-safe. Times are {@link System#nanoTime}.
 */
final class Held {

  private final Text text;
  private long[] fromNs = new long[8];
  private long[] untilNs = new long[8];
  private int[] blocks = new int[8];
  private int size = 1;

  /** Nothing is held yet. */
  Held(Text text) {
    this.text = text;
  }

  Text text() {
    return text;
  }

  /** From a moment behind {@code beforeNs} and before {@code afterNs} on it is that many. */
  synchronized void change(long beforeNs, long afterNs, int now) {
    if (size == blocks.length) {
      fromNs = Arrays.copyOf(fromNs, size * 2);
      untilNs = Arrays.copyOf(untilNs, size * 2);
      blocks = Arrays.copyOf(blocks, size * 2);
    }
    untilNs[size - 1] = afterNs;
    fromNs[size] = beforeNs;
    blocks[size++] = now;
  }

  /** Blocks held now. */
  synchronized int now() {
    return blocks[size - 1];
  }

  /** Fewest blocks held at any moment from one time to another, both inclusive. */
  synchronized int least(long startNs, long endNs) {
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      if (overlaps(i, startNs, endNs)) {
        least = Math.min(least, blocks[i]);
      }
    }
    return least;
  }

  /** Most blocks held at any moment from one time to another, both inclusive. */
  synchronized int most(long startNs, long endNs) {
    int most = 0;
    for (int i = 0; i < size; i++) {
      if (overlaps(i, startNs, endNs)) {
        most = Math.max(most, blocks[i]);
      }
    }
    return most;
  }

  /** The first one has always been and the last one has no end. */
  private boolean overlaps(int i, long startNs, long endNs) {
    boolean begun = i == 0 || fromNs[i] - endNs <= 0;
    boolean ended = i < size - 1 && untilNs[i] - startNs < 0;
    return begun && !ended;
  }
}
