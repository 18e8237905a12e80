// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One partition that another replica holds.
 *
 * @param holder its {@code host:port}
 */
record HeldElsewhere(String holder) implements IndexPartitions {

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
  public Holders holders(int partition) {
    return new Holders(holder, List.of());
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }
}
