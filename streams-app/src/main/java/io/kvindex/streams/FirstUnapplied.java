// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/**
 * Which record of the log is the first that the answers of a view do not have. What is not known
 * for sure counts as missing: answers that lack it must not be called exact.
 */
final class FirstUnapplied {

  private FirstUnapplied() {}

  /**
   * Compares what a view has with what its partition's owner has committed.
   *
   * @param reading how far the changelog was read into it, null = nobody reads it now
   * @param committed the first record the owner has not committed
   */
  static long of(PartitionView view, RestoreWatch.@Nullable Reading reading, long committed) {
    // If another one has become the owner meanwhile, what it commits is not here. Of a copy the
    // rows tell how far they are: the owner writes that down even where nothing came of records.
    return isOwners(view, reading)
        ? view.takenOffset() + 1
        : Math.min(committed, view.appliedOffset() + 1);
  }

  /** Whether it is the view of the partition's owner, as far as this process knows. */
  static boolean isOwners(PartitionView view, RestoreWatch.@Nullable Reading reading) {
    return view.state() != PartitionView.State.CLOSED && reading == null && view.takenOffset() >= 0;
  }
}
