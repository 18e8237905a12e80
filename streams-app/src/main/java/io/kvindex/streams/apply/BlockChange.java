// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.table.OwnerState;
import org.jspecify.annotations.Nullable;

/** What a record does to one residency row, from before the record to after its last event. */
final class BlockChange {

  final OwnerState owner;
  final long engineHash;
  final int group;
  final @Nullable BlockRow before;

  private int copies;
  private int undecided;
  private int space;
  private boolean resolved;
  private long lookupKey;

  BlockChange(OwnerState owner, long engineHash, int group, @Nullable BlockRow before) {
    this.owner = owner;
    this.engineHash = engineHash;
    this.group = group;
    this.before = before;
    if (before != null) {
      copies = before.copies();
      undecided = before.undecided();
      space = before.space();
      resolved = before.resolved();
      lookupKey = before.lookupKey();
    }
  }

  /**
   * The block was announced. The cache holds between {@code copies} and {@code copies + undecided}
   * copies of it; whichever way it came about, it holds one at least now.
   */
  void store(CopyPolicy policy, Origin origin) {
    if (policy == CopyPolicy.SET) {
      copies = 1;
      undecided = 0;
    } else if (origin == Origin.NEW) {
      copies += copies == Integer.MAX_VALUE ? 0 : 1;
    } else if (copies == 0) {
      copies = 1;
      undecided = Math.max(0, origin == Origin.REUSED ? undecided - 1 : undecided);
    } else if (origin == Origin.UNSTATED) {
      undecided += undecided == Integer.MAX_VALUE ? 0 : 1;
    }
  }

  /** Takes one copy away; whether there may have been one. */
  boolean remove(CopyPolicy policy) {
    boolean there = isKnown();
    if (policy == CopyPolicy.SET) {
      drop();
    } else if (copies > 0) {
      copies--;
    } else {
      undecided = Math.max(0, undecided - 1);
    }
    return there;
  }

  /** What the engine says is left; whether there may have been a copy before. */
  boolean remain(long left) {
    boolean there = isKnown();
    copies = there ? (int) Math.max(0, Math.min(left, Integer.MAX_VALUE)) : 0;
    undecided = 0;
    return there;
  }

  /** Whether it may be there still, though it is in no answer. */
  boolean isUndecided() {
    return copies == 0 && undecided > 0;
  }

  /** What is not certain counts for nothing from here on. */
  void forgetUndecided() {
    undecided = 0;
  }

  /** It is not kept. */
  void drop() {
    copies = 0;
    undecided = 0;
  }

  void resolve(int contentSpace, ContentRow content) {
    space = contentSpace;
    resolved = true;
    lookupKey = content.lookupKey();
  }

  void orphan(int waitingSpace) {
    space = waitingSpace;
    resolved = false;
    lookupKey = 0;
  }

  /** Whether it is surely there. */
  boolean present() {
    return copies > 0;
  }

  /** Whether it may be there. */
  boolean isKnown() {
    return copies > 0 || undecided > 0;
  }

  boolean isResolved() {
    return resolved;
  }

  int space() {
    return space;
  }

  long lookupKey() {
    return lookupKey;
  }

  @Nullable BlockRow after() {
    return isKnown() ? new BlockRow(copies, undecided, space, resolved, lookupKey) : null;
  }
}
