// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

/**
 * Finds records of a partition that were deleted before they were read. Records of the events topic
 * follow each other without a hole, as nothing but retention deletes from it. For one task.
 */
final class LogHoles {

  /** Nothing was read yet, so nothing can be missing. */
  static final long UNKNOWN = -1;

  private long expected = UNKNOWN;

  /**
   * A task begins; the same object serves the next one where a copy becomes its own again.
   *
   * @param offset of the first record the rows have nothing of, {@link #UNKNOWN} = wherever the log
   *     begins
   */
  void begin(long offset) {
    expected = offset;
  }

  /**
   * To be told of each record as it comes.
   *
   * @return number of records that are missing before it
   */
  long before(long offset) {
    long missing = expected == UNKNOWN ? 0 : Math.max(0, offset - expected);
    expected = Math.max(expected, offset + 1);
    return missing;
  }
}
