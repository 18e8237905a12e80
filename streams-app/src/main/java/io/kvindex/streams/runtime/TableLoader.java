// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Brings a partition's table into memory: from the process's own checkpoint, from another copy's,
 * or empty, to be folded from the log's beginning.
 */
@FunctionalInterface
public interface TableLoader {

  /**
   * Returns the table. Called by a loading thread, one at a time for a partition, with the table
   * before it let go of; may take as long as it has to, and is interrupted when the process ends.
   *
   * @param topicId the topic's id in Kafka at this moment: a checkpoint of another one is of
   *     another log and must not be used
   * @param before why the partition's last table was refused, null = there was none
   * @throws Exception if there is nothing to be had now; tried again after a pause
   */
  FoldedTable load(int partition, Uuid topicId, @Nullable Refusal before) throws Exception;
}
