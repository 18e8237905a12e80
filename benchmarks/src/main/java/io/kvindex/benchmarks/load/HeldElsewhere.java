// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/** One partition that is not here. */
record HeldElsewhere() implements IndexPartitions {

  @Override
  public int partitions() {
    return 1;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return null;
  }

  @Override
  public boolean keepsUp(int partition) {
    return false;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }
}
