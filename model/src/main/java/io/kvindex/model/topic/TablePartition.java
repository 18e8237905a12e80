// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import io.kvindex.model.TableId;
import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;

/**
 * Which partition of the events topic holds a table: by tenant, model and block size, not by record
 * key, so that all streams of a table meet in one task and one partition answers a query. The same
 * function serves producer and query router; changing it would orphan every table.
 */
public final class TablePartition {

  private static final LongHashFunction HASH = LongHashFunction.xx3(0);

  private TablePartition() {}

  /** Partition of a table, 0..{@code partitions}-1. */
  public static int of(TableId table, int partitions) {
    return of(table.tenantId(), table.model(), table.blockSize(), partitions);
  }

  /** Partition of all tables that differ in the hash profile only, 0..{@code partitions}-1. */
  public static int of(String tenantId, String model, int blockSize, int partitions) {
    String text = tenantId.length() + ":" + tenantId + model.length() + ":" + model + blockSize;
    long hash = HASH.hashBytes(text.getBytes(StandardCharsets.UTF_8));
    return (int) Long.remainderUnsigned(hash, partitions);
  }
}
