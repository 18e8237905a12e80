// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import org.apache.kafka.streams.query.Query;

/**
 * Asks a prefix table for its read view, on an active task or a standby.
 *
 * @param load whether the index of a store that is being filled should be built now, because its
 *     rows are all there
 */
public record ReadViewQuery(boolean load) implements Query<PartitionView> {

  /** Just asks. */
  public static final ReadViewQuery LOOK = new ReadViewQuery(false);

  /** Has the index built as well. */
  public static final ReadViewQuery LOAD = new ReadViewQuery(true);
}
