// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether an announcement means another copy of its blocks, where copies are counted. vLLM removes
 * each physical copy of a block by itself, but announces a block also when a request merely reuses
 * it ({@code kv_cache_report_mode: full}), in the same words. What the log does not decide is kept
 * as a range: a block is in the answers while one copy is certain, so that none is promised that is
 * gone.
 *
 * <p>One thing proves an announcement to be of new copies: a request only reuses what is held, so
 * an event with a block that is surely not there speaks of computed blocks throughout. To know that
 * of a block takes that all that was ever announced has a row, those included that may be gone;
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

  private final RowBatch batch;
  private final int mostUndecided;
  private final Media media = Media.standard();

  CopyJudge(RowBatch batch, Limits limits) {
    this.batch = batch;
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
    } else if (media.tier(owner.row().medium()) != Media.Tier.DEVICE) {
      return Origin.NEW; // what a lower tier announces it has stored
    }
    boolean proves = complete && !owner.row().copiesUnsure();
    return proves && hasAbsentBlock(event, owner) ? Origin.NEW : Origin.UNSTATED;
  }

  /** From the last block on: a new one mostly comes behind those that are held. */
  private boolean hasAbsentBlock(Stored event, OwnerState owner) {
    Hashes hashes = event.engineHashes();
    int group = event.place().group();
    for (int i = hashes.size() - 1; i >= 0; i--) {
      if (!batch.blocks().of(owner, hashes.get(i), group).isKnown()) {
        return true;
      }
    }
    return false;
  }

  /**
   * A block was computed behind the parent.
   *
   * @param before names the block before a given one, null = not known
   */
  void held(OwnerState owner, Stored event, LongFunction<@Nullable Long> before) {
    boolean computed =
        event.parent().kind() == Parent.Kind.HASH
            && event.origin() == Origin.NEW
            && owner.undecided() > 0;
    Long block = computed ? event.parent().hash() : null;
    int certain = 0;
    while (block != null && certain < MOST_CERTAIN) {
      BlockChange change = batch.blocks().of(owner, block, event.place().group());
      if (change.isUndecided()) {
        change.store(CopyPolicy.COUNT, Origin.REUSED);
      } else if (!change.present()) {
        return;
      } else {
        certain++;
      }
      block = before.apply(block);
    }
  }

  /** A removal took a copy of the block away. */
  void removed(BlockChange change) {
    if (!change.isUndecided()) {
      return;
    }
    OwnerState owner = change.owner;
    if (owner.row().copiesUnsure()) {
      change.forgetUndecided();
    } else if (!change.isResolved() || owner.undecided() >= mostUndecided) {
      change.forgetUndecided();
      noMoreProofs(owner);
    }
  }

  /** The owner may hold a block that has no row. */
  void noMoreProofs(OwnerState owner) {
    if (!owner.row().copiesUnsure()) {
      batch.put(RowKeys.ofId(RowKind.OWNER, owner.id()), owner.row().unsureOfCopies().encode());
    }
  }
}
