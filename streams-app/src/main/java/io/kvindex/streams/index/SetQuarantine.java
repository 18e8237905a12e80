// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Sets whose last block is gone, in batches, until no reader can hold their ids. A set waits at
 * most once; it may be taken back into use meanwhile. Its length is bounded by the sets that lose
 * their last block while the slowest walk runs. Used by the writer only.
 */
final class SetQuarantine {

  private static final int BATCH = 64;
  private static final int BATCHES_PER_STEP = 2;

  private record Batch(long stamp, OwnerSet[] sets) {}

  private final Epochs epochs;
  private final Consumer<OwnerSet> reclaim;
  private final Queue<Batch> closed = new ArrayDeque<>();
  private final Gauge size = new Gauge();
  private OwnerSet[] open = new OwnerSet[BATCH];
  private int filled;

  SetQuarantine(Epochs epochs, Consumer<OwnerSet> reclaim) {
    this.epochs = epochs;
    this.reclaim = reclaim;
  }

  /** The set has lost its last block: the key table does not name it any more. */
  void add(OwnerSet set) {
    if (set.queued) {
      // It came back and is let go again: when its batch is due it has to wait once more.
      return;
    }
    set.queued = true;
    set.revived = false;
    size.add(1);
    append(set);
  }

  long size() {
    return size.get();
  }

  private void append(OwnerSet set) {
    open[filled++] = set;
    if (filled == BATCH) {
      OwnerSet[] full = open;
      open = new OwnerSet[BATCH];
      filled = 0;
      closed.add(new Batch(epochs.stamp(), full));
      step();
    }
  }

  private void step() {
    long oldest = epochs.oldestReader();
    for (int i = 0; i < BATCHES_PER_STEP; i++) {
      Batch batch = closed.peek();
      if (batch == null || batch.stamp >= oldest) {
        return;
      }
      closed.remove();
      settle(batch);
    }
  }

  private void settle(Batch batch) {
    for (OwnerSet set : batch.sets) {
      if (set.references == 0 && set.revived) {
        set.revived = false;
        append(set);
        continue;
      }
      set.queued = false;
      size.add(-1);
      if (set.references == 0) {
        reclaim.accept(set);
      }
    }
  }
}
