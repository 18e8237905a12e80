// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.CopyPolicy;
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
      space = before.space();
      resolved = before.resolved();
      lookupKey = before.lookupKey();
    }
  }

  void store(CopyPolicy policy) {
    copies = policy == CopyPolicy.SET ? 1 : copies == Integer.MAX_VALUE ? copies : copies + 1;
  }

  /** Takes one copy away; whether there was one. */
  boolean remove(CopyPolicy policy) {
    boolean there = copies > 0;
    copies = policy == CopyPolicy.SET ? 0 : Math.max(0, copies - 1);
    return there;
  }

  /** What the engine says is left; whether there was a copy before. */
  boolean remain(long left) {
    boolean there = copies > 0;
    copies = there ? (int) Math.max(0, Math.min(left, Integer.MAX_VALUE)) : 0;
    return there;
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

  boolean present() {
    return copies > 0;
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
    return copies == 0 ? null : new BlockRow(copies, space, resolved, lookupKey);
  }
}
