// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.view.PartitionView;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The tables as readers see them, by partition. Thread-safe; no method waits. */
public interface IndexPartitions {

  /** Why a replica that is told to stop takes no traffic. */
  String LEAVING = "draining: this replica is being stopped";

  /** Partitions of the events topic. */
  int partitions();

  /** The view of a partition, null = this replica never had it. */
  @Nullable PartitionView view(int partition);

  /**
   * Whether a partition has all that the log held at this process's start and is close behind the
   * log's end now. Costs a volatile read.
   */
  boolean keepsUp(int partition);

  /**
   * How long what is not applied to a partition may have waited in the log, milliseconds; 0 if
   * nothing is known to wait. Grows for as long as Kafka is away.
   */
  default long ageMs(int partition) {
    return 0;
  }

  /** How far a partition is from answering here. */
  default PartitionProgress progress(int partition) {
    return PartitionProgress.of(PartitionProgress.Phase.READY);
  }

  /** Why answers about one partition should not be asked for here yet, null if they may. */
  default @Nullable String notReadyReason(int partition) {
    return null;
  }

  /**
   * What people should look at though answers say themselves how far to trust them: checkpoints
   * that are not written, or a record that had to be left out. null = nothing.
   */
  default @Nullable String warning() {
    return null;
  }

  /** Name of the copy these are of, empty = it has none. */
  default String copy() {
    return "";
  }

  /** Kafka's id of the events topic they are folded from, empty = not known. */
  default String logId() {
    return "";
  }

  /** Records of a partition that are in the log and not applied here, 0 = none known. */
  default long recordsBehind(int partition) {
    return 0;
  }

  /**
   * Whether what is here of a partition has been close to the log's end since it was loaded. Before
   * that it may be as old as the disk, or lack nearly all.
   */
  default boolean wasClose(int partition) {
    return true;
  }

  /** Why this replica should get no traffic yet, null if it may. */
  @Nullable String notReadyReason();

  /**
   * The same where other replicas answer for partitions that are not this one's, or that it takes
   * over while it answers already.
   *
   * @param elsewhere whether another replica keeps a partition up
   */
  default @Nullable String notReadyReason(IntPredicate elsewhere) {
    return notReadyReason();
  }

  /** The same for one partition. */
  default @Nullable String notReadyReason(int partition, IntPredicate elsewhere) {
    return notReadyReason(partition);
  }
}
