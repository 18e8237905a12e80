// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.streams.index.BlockKeys;

/**
 * A prompt's keys that end the walk when the deadline is past. Looks at the clock every few
 * thousand blocks, that is a few times in a millisecond. Reused; one thread at a time.
 */
final class TimedKeys implements BlockKeys {
  private static final int EVERY = 4_096;

  private BlockKeys keys = (out, from, max) -> 0;
  private Deadline deadline = Deadline.NONE;
  private int next;

  BlockKeys of(BlockKeys prompt, Deadline end) {
    keys = prompt;
    deadline = end;
    next = EVERY; // whoever begins a walk has looked
    return this;
  }

  @Override
  public BlockKeys in(int context) {
    BlockKeys own = keys.in(context);
    return own == keys.in(0) ? this : own;
  }

  @Override
  public boolean isOptional(int context) {
    return keys.isOptional(context);
  }

  @Override
  public int fill(long[] out, int from, int max) {
    if (from >= next) {
      next = from + EVERY;
      deadline.check();
    }
    return keys.in(0).fill(out, from, max);
  }
}
