// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import java.util.Map;

/**
 * Finds records of a partition that were deleted before they were read. Records of the events topic
 * follow each other without a hole, as nothing but retention deletes from it. For one task.
 */
final class LogHoles {

  private static final long UNKNOWN = -1;

  private final Map<Integer, Hole> atStart;
  private long expected = UNKNOWN;

  /**
   * @param atStart by partition
   */
  LogHoles(Map<Integer, Hole> atStart) {
    this.atStart = atStart;
  }

  /**
   * To be told of each record as it comes.
   *
   * @return number of records that are missing before it
   */
  long before(int partition, long offset) {
    long from = expected;
    if (from == UNKNOWN) {
      // Whoever reads on where another replica did has no hole before it.
      Hole hole = atStart.get(partition);
      from = hole != null && hole.to() == offset ? hole.from() : offset;
    }
    expected = offset + 1;
    return Math.max(0, offset - from);
  }
}
