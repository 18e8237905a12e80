// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
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

  /** Whether it is one again, since the last poll. */
  private boolean joined;

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
    if (joined) {
      joined = false;
      enforceRebalance("its rows may be gone");
    }
    return records;
  }

  @Override
  public void subscribe(Collection<String> topics) {
    super.subscribe(topics, new Joined(null));
  }

  @Override
  public void subscribe(Collection<String> topics, ConsumerRebalanceListener listener) {
    super.subscribe(topics, new Joined(listener));
  }

  @Override
  public void subscribe(Pattern topics, ConsumerRebalanceListener listener) {
    super.subscribe(topics, new Joined(listener));
  }

  /**
   * Hears when it is a member again: that takes several polls on a busy machine, and what is asked
   * for before is over with it. What it is told of the group still says then what it was before.
   */
  private final class Joined implements ConsumerRebalanceListener {
    private final @Nullable ConsumerRebalanceListener listener;

    private Joined(@Nullable ConsumerRebalanceListener listener) {
      this.listener = listener;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      joined |= joinsAnew;
      joinsAnew = false;
      if (listener != null) {
        listener.onPartitionsAssigned(partitions);
      }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      if (listener != null) {
        listener.onPartitionsRevoked(partitions);
      }
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      if (listener != null) {
        listener.onPartitionsLost(partitions);
      }
    }
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
