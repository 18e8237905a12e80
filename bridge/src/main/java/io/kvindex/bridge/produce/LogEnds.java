// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.TableId;
import io.kvindex.model.topic.TablePartition;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How far the partitions of the events topic are known to reach: what is sent from now on comes
 * behind that. Thread-safe.
 */
public final class LogEnds {

  private final AtomicLongArray ends;

  LogEnds(int partitions) {
    ends = new AtomicLongArray(partitions);
    for (int i = 0; i < partitions; i++) {
      ends.set(i, -1);
    }
  }

  /** Number of partitions. */
  public int partitions() {
    return ends.length();
  }

  /** Partition of a table. */
  public int partition(TableId table) {
    return TablePartition.of(table, ends.length());
  }

  /** A partition has been seen to end there; never goes back. */
  public void note(int partition, long end) {
    ends.accumulateAndGet(partition, end, Math::max);
  }

  /** The newest end known of a table's partition, -1 = none. */
  public long of(TableId table) {
    return ends.get(partition(table));
  }
}
