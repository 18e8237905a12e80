// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import org.apache.kafka.common.TopicPartition;

/**
 * Is told when what the active task of a partition has written is committed. Under exactly-once
 * Kafka Streams tells a store of a running task nothing of that (StreamTask.postCommit, Kafka
 * 4.3.1).
 */
public interface CommittedRows {

  /**
   * All rows are committed, and none was written since. For the thread that owns the task.
   *
   * @param changelog where the rows are
   * @param last offset of the last one
   * @return whether they were saved, which takes a while
   */
  boolean committed(TopicPartition changelog, long last);
}
