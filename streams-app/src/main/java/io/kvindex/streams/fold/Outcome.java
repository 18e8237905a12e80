// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import java.util.Locale;

/** What became of records and of blocks in them, for the counters. */
public enum Outcome {
  APPLIED,
  DUPLICATE,
  STALE_INCARNATION,
  HELD_BACK,
  /** A hole in a stream: announced by the bridge, or given up waiting for. */
  GAP,
  UNDECODABLE,
  /** Not applied, as the fold of its record broke off: a bug. */
  LEFT_OUT,
  BLOCKS_STORED,
  BLOCKS_REMOVED,
  /** Removal of a block the owner is not known to hold. */
  REMOVED_UNKNOWN,
  /** A block left the answers with a removal, though there may be a second copy of it. */
  COPIES_UNDECIDED,
  /** Stored without a known prefix. */
  ORPHANED,
  /** Stored on a lower tier, and described by none of the device's events so far. */
  UNDESCRIBED,
  /** An orphan whose prefix became known. */
  LINKED,
  /** Not kept, because too many orphans wait already. */
  ORPHAN_LIMIT,
  /** Publishers disagree about what a hash means. */
  HASH_DISAGREEMENT,
  /** Attention group beyond those told apart. */
  GROUP_LIMIT,
  /** Context not listed for searches over all contexts, because there are too many. */
  CONTEXT_LIMIT;

  /** Name in metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
