// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/** The tables as readers see them, by partition. Thread-safe; no method waits. */
public interface IndexPartitions {

  /** Partitions of the events topic. */
  int partitions();

  /** The view of a partition, null = this replica never had it. */
  @Nullable PartitionView view(int partition);

  /**
   * Whether a partition has all that the log held at this process's start and is close behind the
   * log's end now. Costs a volatile read.
   */
  boolean keepsUp(int partition);

  /** Why this replica should get no traffic yet, null if it may. */
  @Nullable String notReadyReason();
}
