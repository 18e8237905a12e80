// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/**
 * Which record of the log is the first that the answers of a view do not have. What is not known
 * for sure counts as missing: answers that lack it must not be called exact.
 */
final class FirstUnapplied {

  /** The last offset of a changelog is its last transaction's marker, which is no row. */
  private static final long COMMIT_MARKER = 1;

  private FirstUnapplied() {}

  /**
   * Compares what a view has with what its partition's owner has committed.
   *
   * @param reading how far the changelog was read into it, null = nobody reads it now
   * @param committed the first record the owner has not committed
   * @param rowsEnd end of the changelog, later than that commit; -1 = not known; only needed for
   *     standbys
   */
  static long of(
      PartitionView view, RestoreWatch.@Nullable Reading reading, long committed, long rowsEnd) {
    if (isOwners(view, reading)) {
      // If another one has become that meanwhile, what it commits is not here.
      return view.takenOffset() + 1;
    }
    boolean follows = view.state() != PartitionView.State.CLOSED;
    // Nothing came of some records: a copy with all rows has those too. Not so one without any, of
    // a changelog that was lost, nor one that is about to be read on, from where its rows end.
    if (follows && isCopy(reading) && hasAllRows(reading, rowsEnd) && view.appliedOffset() >= 0) {
      return committed;
    }
    // Rows are missing: on their way, or of another one's transaction that hangs. So it is between
    // the last row a standby reads and the first it writes as the owner, too.
    return Math.min(committed, view.appliedOffset() + 1);
  }

  /** Whether it is the view of the partition's owner, as far as this process knows. */
  static boolean isOwners(PartitionView view, RestoreWatch.@Nullable Reading reading) {
    return view.state() != PartitionView.State.CLOSED && reading == null && view.takenOffset() >= 0;
  }

  private static boolean isCopy(RestoreWatch.@Nullable Reading reading) {
    return reading != null && reading.standby();
  }

  private static boolean hasAllRows(RestoreWatch.@Nullable Reading reading, long rowsEnd) {
    return reading != null && rowsEnd >= 0 && reading.position() + COMMIT_MARKER >= rowsEnd;
  }
}
