// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the newest progress of all publishers of a partition. One thread. */
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
   * Reads a partition up to the end it has now.
   *
   * @throws TimeoutException if that takes longer than the timeout
   */
  Map<PublisherId, KnownProgress> read(int partition) {
    TopicPartition source = new TopicPartition(Topics.BRIDGE_PROGRESS, partition);
    consumer.assign(List.of(source));
    consumer.seekToBeginning(List.of(source));
    long end = consumer.endOffsets(List.of(source), timeout).getOrDefault(source, 0L);
    long deadline = System.nanoTime() + timeout.toNanos();
    Map<PublisherId, KnownProgress> newest = new HashMap<>();
    while (consumer.position(source, timeout) < end) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException(
            source
                + " was not read to its end in "
                + TimeUnit.NANOSECONDS.toSeconds(timeout.toNanos())
                + " s");
      }
      consumer.poll(POLL).forEach(record -> note(record, newest));
    }
    return newest;
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
