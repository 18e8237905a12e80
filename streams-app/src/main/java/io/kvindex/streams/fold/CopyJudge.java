// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.Owners;
import io.kvindex.streams.table.PartitionTable;
import java.util.function.LongUnaryOperator;

/**
 * Whether an announcement means another copy of its blocks, where copies are counted. vLLM removes
 * each physical copy of a block by itself, but announces a block also when a request merely reuses
 * it ({@code kv_cache_report_mode: full}), in the same words. What the log does not decide is kept
 * as a range: a block is in the answers while one copy is certain, so that none is promised that is
 * gone.
 *
 * <p>One thing proves an announcement to be of new copies: a request only reuses what is held, so
 * an event with a block that is surely not there speaks of computed blocks throughout. To know that
 * of a block takes that all blocks ever announced are remembered, those included that may be gone;
 * where there are too many of these, or something is missing, nothing is proved any more until the
 * cache is emptied. The other way round, a block computed behind one that may be gone shows that it
 * is not: the request that computed it holds all of its prefix.
 */
final class CopyJudge {

  /**
   * A prompt's beginning may be in doubt though what follows it is not. So far back it is looked
   * for, which bounds what a store costs where an owner has blocks in doubt.
   */
  private static final int MOST_CERTAIN = 512;

  private final Owners owners;
  private final Holding holding;
  private final int mostUndecided;

  CopyJudge(PartitionTable table, Limits limits) {
    owners = table.owners();
    holding = new Holding(table);
    mostUndecided = limits.undecidedBlocks();
  }

  /**
   * How the blocks of an event count.
   *
   * @param complete whether all events of the publisher's life are known
   */
  Origin origin(Stored event, OwnerState owner, CopyPolicy copies, boolean complete) {
    Origin stated = event.origin();
    if (stated != Origin.UNSTATED || copies == CopyPolicy.SET) {
      return stated;
    } else if (!isOnDevice(owner)) {
      return Origin.NEW; // what a lower tier announces it has stored
    }
    boolean proves = complete && !owner.holder().copiesUnsure();
    return proves && hasAbsentBlock(event, owner) ? Origin.NEW : Origin.UNSTATED;
  }

  /** Whether its blocks are on the device tier. */
  static boolean isOnDevice(OwnerState owner) {
    return Media.standard().tier(owner.owner().medium()) == Media.Tier.DEVICE;
  }

  /** From the last block on: a new one mostly comes behind those that are held. */
  private boolean hasAbsentBlock(Stored event, OwnerState owner) {
    Hashes hashes = event.engineHashes();
    int group = event.place().group();
    for (int i = hashes.size() - 1; i >= 0; i--) {
      if (!holding.read(owner, hashes.get(i), group).isKnown()) {
        return true;
      }
    }
    return false;
  }

  /**
   * A block was computed behind the parent.
   *
   * @param before names the block before a given one, 0 = not known
   */
  void held(OwnerState owner, Stored event, LongUnaryOperator before) {
    boolean computed =
        event.parent().kind() == Parent.Kind.HASH
            && event.origin() == Origin.NEW
            && owner.holder().undecided() > 0;
    long block = computed ? event.parent().hash() : 0;
    int certain = 0;
    while (block != 0 && certain < MOST_CERTAIN) {
      Holding held = holding.read(owner, block, event.place().group());
      if (held.isUndecided()) {
        held.store(CopyPolicy.COUNT, Origin.REUSED);
        held.write();
      } else if (!held.isPresent()) {
        return;
      } else {
        certain++;
      }
      block = before.applyAsLong(block);
    }
  }

  /** A removal took a copy of the block away; what that leaves is to be written after this. */
  void removed(Holding change) {
    if (!change.isUndecided()) {
      return;
    }
    OwnerState owner = change.owner;
    boolean unsure = owner.holder().copiesUnsure();
    if (unsure || !change.resolved || owner.holder().undecided() >= mostUndecided) {
      change.forgetUndecided();
      owners.loseCopies(owner);
    }
  }
}
