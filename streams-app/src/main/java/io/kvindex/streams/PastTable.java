// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.fold.Fold;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/**
 * One partition as it was after the records it is given, folded by the same rules as the running
 * table, in memory alone: it has no rows for dumps and digests. Records are taken by one thread;
 * answers may be asked for by any when they are in.
 */
public final class PastTable implements IndexPartitions {

  private final int partitions;
  private final PartitionTable table;
  private final Fold fold;

  /**
   * An empty table.
   *
   * @param partition the partition of the events topic the records are of
   * @param partitions how many that topic has
   * @param logStart offset of the first record that topic's partition still has; what was before is
   *     not known
   */
  public PastTable(int partition, int partitions, long logStart) {
    this.partitions = partitions;
    table = new PartitionTable(partition, new Epochs(), Journal.none());
    fold = new Fold(table, (outcome, n) -> {}, Limits.DEFAULT);
    table.foldedSince(logStart);
    if (logStart > 0) {
      table.streams().taken(logStart - 1);
    }
    fold.startsAt(logStart);
  }

  /**
   * Applies the next record of the partition.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it
   */
  public void take(EventRecord record, long offset, long appendTimeMs) {
    fold.take(record, offset, appendTimeMs);
  }

  /**
   * The next record of the partition is another table's. It is not applied, but time goes on with
   * it: blocks that count for some time only, and records that wait, go by the whole partition's.
   *
   * @param appendTimeMs the broker's time on it
   */
  public void leaveOut(long appendTimeMs) {
    fold.leaveOut(appendTimeMs);
  }

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return partition == table.partition() ? table : null;
  }

  @Override
  public boolean keepsUp(int partition) {
    return true;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }
}
