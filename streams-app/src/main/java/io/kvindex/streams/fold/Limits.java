// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import java.time.Duration;

/**
 * Bounds of what a partition keeps beside the blocks themselves.
 *
 * @param heldPerStream records of a stream held back before the oldest is applied with a gap
 * @param heldFor longest a record is held back, in the time of the events topic
 * @param orphans blocks kept whose prefix is unknown
 * @param contexts contexts a table lists for searches over all of them; as many names of adapters
 *     known by number
 * @param unheldContents how many names that lost their last holder later than a name of which the
 *     meaning is still kept; at most {@link io.kvindex.streams.index.Blocks#MOST_UNHELD}. An engine
 *     that stores a block whose prefix it holds needs none of them
 * @param undecidedBlocks blocks of an owner that are remembered though they may be gone: as long as
 *     they are, a block that is not known is surely not there
 */
public record Limits(
    int heldPerStream,
    Duration heldFor,
    int orphans,
    int contexts,
    int unheldContents,
    int undecidedBlocks) {

  /** What a site starts with. */
  public static final Limits DEFAULT =
      new Limits(1_000, Duration.ofSeconds(30), 100_000, 100_000, 100_000, 50_000);
}
