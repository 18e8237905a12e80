// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Small numbers that were taken back, until no reader that may have read them is running. In
 * batches, as the end of an epoch costs all readers of a process something. For the writer alone.
 */
final class Limbo {

  private record Batch(long stamp, int[] numbers) {}

  private final Epochs epochs;
  private final Queue<Batch> waiting = new ArrayDeque<>();
  private int[] open;
  private int filled;

  /** Those that may be given again, the first {@link #left} of them. */
  private int[] free = {};

  private int left;

  /**
   * @param batch how many numbers wait together
   */
  Limbo(Epochs epochs, int batch) {
    this.epochs = epochs;
    open = new int[batch];
  }

  /**
   * Nothing a reader could find from here on names the number.
   *
   * @return whether a batch is full by this
   */
  boolean add(int number) {
    open[filled++] = number;
    if (filled < open.length) {
      return false;
    }
    waiting.add(new Batch(epochs.stamp(), open));
    open = new int[filled];
    filled = 0;
    return true;
  }

  /** A number to be given again, negative = there is none. */
  int take() {
    if (left == 0) {
      Batch oldest = waiting.peek();
      if (oldest == null || oldest.stamp >= epochs.oldestReader()) {
        return -1;
      }
      free = waiting.remove().numbers;
      left = free.length;
    }
    return free[--left];
  }
}
