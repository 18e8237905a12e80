// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.table.RememberedBlocks;
import java.time.Duration;

/**
 * Bounds of what a partition keeps beside the blocks themselves.
 *
 * @param heldPerStream records of a stream held back before the oldest is applied with a gap
 * @param heldFor longest a record is held back, in the time of the events topic
 * @param orphans blocks kept whose prefix is unknown
 * @param contexts contexts a table lists for searches over all of them; as many names of adapters
 *     known by number
 * @param unheldContents meanings of hashes kept after their last holder let go. An engine that
 *     stores a block whose prefix it holds needs none of them; each is a row that Kafka compacts
 *     and who takes the table over looks through
 * @param rememberedBlocks places for residency rows in the heap, 24 bytes each and twice as much
 *     for a moment as they become more, which spares most removals a read. Four for each resident
 *     block find nearly all
 * @param undecidedBlocks blocks of an owner that are remembered though they may be gone: as long as
 *     they are, a block without a row is surely not there
 */
public record Limits(
    int heldPerStream,
    Duration heldFor,
    int orphans,
    int contexts,
    int unheldContents,
    int rememberedBlocks,
    int undecidedBlocks) {

  private static final int UNDECIDED_BLOCKS = 50_000;

  /** What a site starts with. */
  public static final Limits DEFAULT =
      new Limits(1_000, Duration.ofSeconds(30), 100_000, 100_000, 100_000, RememberedBlocks.PLACES);

  /** With as many undecided blocks as a site starts with. */
  public Limits(
      int heldPerStream,
      Duration heldFor,
      int orphans,
      int contexts,
      int unheldContents,
      int rememberedBlocks) {
    this(
        heldPerStream,
        heldFor,
        orphans,
        contexts,
        unheldContents,
        rememberedBlocks,
        UNDECIDED_BLOCKS);
  }

  /** The same with so many places for residency rows. */
  public Limits rememberingBlocks(int places) {
    return new Limits(
        heldPerStream, heldFor, orphans, contexts, unheldContents, places, undecidedBlocks);
  }

  /** The same with so many undecided blocks of an owner. */
  public Limits withUndecidedBlocks(int blocks) {
    return new Limits(
        heldPerStream, heldFor, orphans, contexts, unheldContents, rememberedBlocks, blocks);
  }
}
