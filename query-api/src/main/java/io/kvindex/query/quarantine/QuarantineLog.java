// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the quarantine topic from its beginning to the end it has when asked. Thread-safe. */
final class QuarantineLog {

  private static final Logger LOG = LoggerFactory.getLogger(QuarantineLog.class);
  private static final Duration POLL = Duration.ofMillis(100);

  private final Map<String, Object> kafka;
  private final Duration timeout;

  QuarantineLog(Map<String, Object> kafka, Duration timeout) {
    this.kafka = kafka;
    this.timeout = timeout;
  }

  /**
   * Hands over each frame that can be read, oldest first within a publisher.
   *
   * @throws TimeoutException if it can not be read to its end in time
   */
  void read(BiConsumer<PublisherId, QuarantinedFrame> to) {
    long deadline = System.nanoTime() + timeout.toNanos();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(Topics.QUARANTINE, timeout).stream()
              .map(info -> new TopicPartition(info.topic(), info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, timeout);
      while (ends.entrySet().stream()
          .anyMatch(end -> consumer.position(end.getKey(), timeout) < end.getValue())) {
        if (System.nanoTime() - deadline > 0) {
          throw new TimeoutException("the quarantine was not read to its end in time");
        }
        consumer.poll(POLL).forEach(record -> hand(record, to));
      }
    }
  }

  private static void hand(
      ConsumerRecord<byte[], byte[]> record, BiConsumer<PublisherId, QuarantinedFrame> to) {
    QuarantinedFrame frame = null;
    PublisherId publisher = null;
    try {
      publisher = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
      frame = decode(record.value());
    } catch (MalformedRecordException | IllegalArgumentException | NullPointerException e) {
      LOG.debug("quarantine offset={} is not readable", record.offset(), e);
    }
    if (publisher != null && frame != null) {
      to.accept(publisher, frame);
    }
  }

  private static @Nullable QuarantinedFrame decode(byte @Nullable [] value) {
    return value == null ? null : QuarantineCodec.decode(value);
  }
}
