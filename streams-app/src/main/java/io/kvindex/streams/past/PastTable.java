// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.past;

import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.apply.Counts;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.apply.TableWriter;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One partition as it was after the records it is given, applied by the same code as those of the
 * running table. Rows are on disk, so that memory is that of the index (about 40 bytes a block) and
 * some hundred MiB. Records are taken by one thread; answers may be asked for by any when they are
 * in.
 */
public final class PastTable implements IndexPartitions, AutoCloseable {

  private static final Counts UNCOUNTED = (outcome, n) -> {};

  private final int partitions;
  private final ScratchRows rows;
  private final PartitionTable table;
  private final TableWriter writer;

  /**
   * An empty table.
   *
   * @param directory for its rows; empty or not there yet, and of no use afterwards
   * @param partition the partition of the events topic the records are of
   * @param partitions how many that topic has
   * @param logStart offset of the first record that topic's partition still has; what was before is
   *     not known
   */
  public PastTable(Path directory, int partition, int partitions, long logStart) {
    this.partitions = partitions;
    rows = new ScratchRows(directory);
    table = new PartitionTable(partition, rows, new Epochs());
    writer = new TableWriter(table, rows, UNCOUNTED, Limits.DEFAULT);
    writer.startsAt(logStart);
    table.view().live();
  }

  /**
   * Applies the next record of the partition.
   *
   * @param offset its offset in the events topic
   * @param appendTimeMs the broker's time on it
   */
  public void take(EventRecord record, long offset, long appendTimeMs) {
    writer.take(record, offset, appendTimeMs);
  }

  /**
   * The next record of the partition is another table's. It is not applied, but time goes on with
   * it: blocks that count for some time only, and records that wait, go by the whole partition's.
   *
   * @param appendTimeMs the broker's time on it
   */
  public void leaveOut(long appendTimeMs) {
    writer.leaveOut(appendTimeMs);
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
    table.view().closed();
    rows.close();
  }
}
