// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/**
 * What the records of one partition come to, in memory. One task at a time writes; whoever is
 * handed the table next sees all that was written before.
 */
public interface FoldedTable {

  /** Offset of the last record folded, -1 = none yet. Any thread may ask. */
  long foldedOffset();

  /**
   * Offset of the first record to fold while none is folded, -1 = wherever the log begins. Any
   * thread may ask.
   */
  default long firstOffset() {
    return -1;
  }

  /**
   * {@link RecordSum} of the record at {@link #foldedOffset}; of no meaning while none is folded.
   * For the thread that writes.
   */
  long foldedSum();

  /**
   * Folds the next record, at an offset greater than all before, and remembers offset and sum. What
   * a record says is for the table to judge and count: an exception means that the table is half
   * changed, and it is thrown away for it.
   *
   * @param timestampMs the log's time of the record
   * @param key null = it has none
   * @param value null = it has none
   * @param sum {@link RecordSum} of the record
   */
  void fold(
      long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, long sum);

  /**
   * The log has these records no more, and they were never folded; the next one folded is {@code to
   * + 1}. From 0 = the table begins with that one.
   *
   * @param from offset of the first one
   * @param to offset of the last one, included
   */
  void missed(long from, long to);

  /** No record has come for a second: the chance to do what is due. For the thread that writes. */
  void idle();

  /**
   * The task that wrote ends, and with it maybe this process's part in the table: another process
   * should find all of it on the disk. For the thread that writes.
   */
  default void released() {}

  /** What queries read, always the same object. Any thread may ask for it and use it. */
  PartitionView view();

  /** Puts the table away in order, with a last checkpoint: nobody writes any more. Called once. */
  void close();

  /**
   * Lets go of everything, instead of {@link #close}: what is in memory can not be relied on, so
   * nothing of it may reach the disk any more. Called by a loading thread.
   */
  void abandon();
}
