// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the newest progress of all publishers of some partitions. One thread. */
final class ProgressReader implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ProgressReader.class);
  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final Duration timeout;

  /**
   * @param consumer without a group; closed with this object
   */
  ProgressReader(Consumer<byte[], byte[]> consumer, Duration timeout) {
    this.consumer = consumer;
    this.timeout = timeout;
  }

  /**
   * Reads partitions up to the end they have now; by partition.
   *
   * @throws TimeoutException if that takes longer than the timeout
   */
  Map<Integer, Map<PublisherId, KnownProgress>> read(Collection<Integer> partitions) {
    List<TopicPartition> sources =
        partitions.stream().map(p -> new TopicPartition(Topics.BRIDGE_PROGRESS, p)).toList();
    consumer.assign(sources);
    consumer.seekToBeginning(sources);
    Map<TopicPartition, Long> ends = consumer.endOffsets(sources, timeout);
    long deadline = System.nanoTime() + timeout.toNanos();
    Map<Integer, Map<PublisherId, KnownProgress>> newest = new HashMap<>();
    partitions.forEach(partition -> newest.put(partition, new HashMap<>()));
    while (!isRead(ends)) {
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException(
            "progress was not read to its end in " + timeout.toSeconds() + " s");
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        note(record, newest.getOrDefault(record.partition(), new HashMap<>()));
      }
    }
    return newest;
  }

  private boolean isRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey(), timeout) >= end.getValue());
  }

  private static void note(
      ConsumerRecord<byte[], byte[]> record, Map<PublisherId, KnownProgress> newest) {
    try {
      PublisherId publisher = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
      if (record.value() == null) {
        newest.remove(publisher);
      } else {
        newest.put(
            publisher,
            KnownProgress.of(BridgeProgressCodec.decode(record.value()), record.offset()));
      }
    } catch (MalformedRecordException | IllegalArgumentException e) {
      LOG.warn("progress offset={} is ignored: {}", record.offset(), e.getMessage());
    }
  }

  @Override
  public void close() {
    consumer.close();
  }
}
