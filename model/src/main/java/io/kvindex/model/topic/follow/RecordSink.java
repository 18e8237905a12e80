// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic.follow;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Takes the records of a followed topic. Called by the follower's thread only. */
public interface RecordSink {
  /** One record, in offset order within its partition; a null value deletes the key. */
  void apply(ConsumerRecord<byte[], byte[]> record);

  /** All that was in the topic when it began to be followed has been given; once. */
  default void caughtUp() {}

  /** The records given since the last call are to become visible now. */
  default void publish() {}
}
