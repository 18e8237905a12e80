// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.table.Orphan;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import org.jspecify.annotations.Nullable;

/**
 * What one owner has of one block: read with {@link #read}, changed, written back with {@link
 * #write}. Used again and again, for one block at a time.
 */
final class Holding {

  /** It has the block in no space. */
  private static final int NOWHERE = -1;

  private final PartitionTable table;
  private final Blocks blocks;
  OwnerState owner;
  private long hash;
  private int group;
  private int copies;
  private int undecided;

  /** Where its meaning is, or is waited for. */
  int space;

  /** Whether its meaning is known. */
  boolean resolved;

  /** Where the index has it, as read. */
  long key;

  /** What was read. */
  private int wasIn;

  private @Nullable Orphan orphan;

  /** What it waits for, if it does from now on. */
  private @Nullable Orphan waits;

  @SuppressWarnings("NullAway") // there is an owner once something was read
  Holding(PartitionTable table) {
    this.table = table;
    blocks = table.blocks();
  }

  /** Asks the memory for what {@link #read} of these will look at. */
  void touch(OwnerState of, Hashes hashes) {
    for (int i = 0; i < of.holder().spaceCount(); i++) {
      blocks.touch(of.holder().space(i), hashes);
    }
  }

  /** Reads it. */
  Holding read(OwnerState of, long engineHash, int ofGroup) {
    owner = of;
    hash = engineHash;
    group = ofGroup;
    copies = 0;
    undecided = 0;
    space = 0;
    resolved = false;
    key = 0;
    waits = null;
    wasIn = NOWHERE;
    orphan = table.waiting().get(of.id(), engineHash, ofGroup);
    if (orphan != null) {
      copies = orphan.copies();
      undecided = orphan.undecided();
      space = orphan.space();
      return this;
    }
    Holder holder = of.holder();
    for (int i = 0; i < holder.spaceCount(); i++) {
      int candidate = holder.space(i);
      if (blocks.find(candidate, engineHash)) {
        long held = blocks.copies(holder, ofGroup);
        if (held != 0) {
          copies = (int) (held >>> 32);
          undecided = (int) held;
          space = candidate;
          wasIn = candidate;
          resolved = true;
          key = blocks.key();
          return this;
        }
      }
    }
    return this;
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

  /** Its meaning is known, in that space. */
  void resolve(int inSpace) {
    space = inSpace;
    resolved = true;
    waits = null;
  }

  /**
   * Its meaning is not known.
   *
   * @param waitingSpace where it will be taught
   * @param awaited engine hash of its parent, or its own where no parent was named
   */
  void orphan(int waitingSpace, long awaited, boolean hasLocal, long local, long extra) {
    space = waitingSpace;
    resolved = false;
    long order = orphan == null ? table.waiting().nextOrder() : orphan.order();
    waits =
        new Orphan(
            waitingSpace,
            hash,
            owner.id(),
            group,
            order,
            copies,
            undecided,
            awaited,
            hasLocal,
            local,
            extra);
  }

  /** Whether it is surely there. */
  boolean isPresent() {
    return copies > 0;
  }

  /** Whether it may be there. */
  boolean isKnown() {
    return copies > 0 || undecided > 0;
  }

  /** Makes the table have it as it is now. */
  void write() {
    boolean stays = isKnown();
    if (orphan != null && (resolved || !stays)) {
      table.remove(orphan);
    }
    Holder holder = owner.holder();
    long groups = owner.publisher().groups();
    if (wasIn != NOWHERE && !(stays && resolved && space == wasIn)) {
      blocks.find(wasIn, hash);
      blocks.setCopies(holder, group, groups, 0, 0);
    }
    if (stays && resolved) {
      blocks.find(space, hash);
      blocks.setCopies(holder, group, groups, copies, undecided);
    } else if (stays) {
      Orphan now = waits == null ? orphan : waits;
      if (now != null && !now.withCopies(copies, undecided).equals(orphan)) {
        table.put(now.withCopies(copies, undecided));
      }
    }
  }
}
