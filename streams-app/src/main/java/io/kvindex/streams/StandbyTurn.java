// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Whether a partition's rows are to be committed before the interval is over, because replicas with
 * a copy see them only then. Kafka Streams commits all running tasks of a thread as soon as one of
 * them asks for it, so it is nobody's turn while any active partition of this process is behind:
 * commits would hold up the one that catches up. Thread-safe.
 */
final class StandbyTurn implements IntPredicate {
  private final @Nullable String own;
  private final int partitions;
  private final IntFunction<Holders> holders;
  private final IntPredicate running;
  private final IntPredicate keepsUp;

  /**
   * @param own how this replica advertises itself, null = not at all
   * @param partitions of the events topic
   * @param holders who holds a partition
   * @param running whether a partition's rows are restored here; one whose are not yet is not
   *     committed
   * @param keepsUp whether a partition's answers are up to the log
   */
  StandbyTurn(
      @Nullable String own,
      int partitions,
      IntFunction<Holders> holders,
      IntPredicate running,
      IntPredicate keepsUp) {
    this.own = own;
    this.partitions = partitions;
    this.holders = holders;
    this.running = running;
    this.keepsUp = keepsUp;
  }

  @Override
  public boolean test(int partition) {
    if (holders.apply(partition).standbys().isEmpty() || !keepsUp.test(partition)) {
      return false;
    }
    for (int other = 0; other < partitions; other++) {
      if (isCommittedHere(other) && !keepsUp.test(other)) {
        return false;
      }
    }
    return true;
  }

  private boolean isCommittedHere(int partition) {
    return own != null && own.equals(holders.apply(partition).active()) && running.test(partition);
  }
}
