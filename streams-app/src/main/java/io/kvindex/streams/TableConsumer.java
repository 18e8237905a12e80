// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * The main consumer of a stream thread, which remembers what Kafka said last was committed: Kafka
 * Streams asks that just before a task begins, and is the one to try again where Kafka is silent.
 * For its thread.
 */
final class TableConsumer extends KafkaConsumer<byte[], byte[]> {

  private final Map<TopicPartition, @Nullable OffsetAndMetadata> committed = new HashMap<>();

  /** Whether it gave up what it had and is no member again yet. */
  private boolean joinsAnew;

  TableConsumer(Map<String, Object> config) {
    super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Kafka Streams does so when a thread has lost its producer, and its rows with it. */
  @Override
  public void unsubscribe() {
    super.unsubscribe();
    joinsAnew = groupMetadata().groupInstanceId().isPresent();
  }

  /**
   * A member with a name, as ours are, is given back at once what it had, and nobody asks who has
   * its rows now: it would restore them while a standby that has them all stands by. So it asks for
   * a rebalance, as one without a name causes by leaving.
   */
  @Override
  public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
    ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
    if (joinsAnew && groupMetadata().generationId() > 0) {
      joinsAnew = false;
      enforceRebalance("its rows may be gone");
    }
    return records;
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
    Map<TopicPartition, OffsetAndMetadata> answer = super.committed(partitions);
    for (TopicPartition partition : partitions) {
      committed.put(partition, answer.get(partition));
    }
    return answer;
  }

  /**
   * What it said last of a partition, null = nothing is committed.
   *
   * @throws IllegalStateException if it was not asked since the last time
   */
  @Nullable OffsetAndMetadata takeCommitted(TopicPartition partition) {
    if (!committed.containsKey(partition)) {
      throw new IllegalStateException("BUG: nobody asked what is committed of " + partition);
    }
    return committed.remove(partition);
  }
}
