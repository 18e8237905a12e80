// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.CheckpointRefusedException;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fold.Counts;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.view.PartitionView;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * One partition as it was after the records it is given, folded by the same code as the running
 * table. Records are taken by one thread; answers may be asked for by any when they are in.
 */
public final class PastTable implements IndexPartitions, AutoCloseable {

  private static final Counts UNCOUNTED = (outcome, n) -> {};

  private final int partitions;
  private final FoldedPartition table;

  /**
   * An empty table.
   *
   * @param directory for its rows, which digests are read from; empty or not there yet, and of no
   *     use afterwards
   * @param partition the partition of the events topic the records are of
   * @param partitions how many that topic has
   * @param logStart offset of the first record that topic's partition still has; what was before is
   *     not known
   * @throws IOException if the directory can not be used
   */
  public PastTable(Path directory, int partition, int partitions, long logStart)
      throws IOException {
    this.partitions = partitions;
    FoldedPartition.Shared alone =
        new FoldedPartition.Shared(
            new Epochs(), new Journal.Pieces(), UNCOUNTED, Limits.DEFAULT, JournalLimits.DEFAULT);
    try {
      table =
          FoldedPartition.load(
              partition,
              alone,
              Checkpoint.open(directory, Uuid.ONE_UUID, partition),
              (names, total) -> {});
    } catch (CheckpointRefusedException e) {
      throw new IOException("rows in " + directory + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    table.startsAt(logStart);
    table.readsSettled();
  }

  /**
   * Applies the next record of the partition.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it
   */
  public void take(EventRecord record, long offset, long appendTimeMs) {
    table.take(record, offset, appendTimeMs);
  }

  /**
   * The next record of the partition is another table's. It is not applied, but time goes on with
   * it: blocks that count for some time only, and records that wait, go by the whole partition's.
   *
   * @param appendTimeMs the broker's time on it
   */
  public void leaveOut(long appendTimeMs) {
    table.leaveOut(appendTimeMs);
  }

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return partition == table.view().partition() ? table.view() : null;
  }

  @Override
  public boolean keepsUp(int partition) {
    return true;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }

  @Override
  public void close() {
    table.abandon();
  }
}
