// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Writes progress records. They go to the partition number their registration has in its topic, so
 * that an assignment of registrations says where the progress is. Thread-safe.
 */
final class ControlRecords {

  private static final String BRIDGE = "bridge";

  private final byte[] bridge = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
  private final Producer<byte[], byte[]> producer;

  ControlRecords(Producer<byte[], byte[]> producer) {
    this.producer = producer;
  }

  /** Whether a record was written through this object, not by another bridge. */
  boolean isOwn(ConsumerRecord<byte[], byte[]> record) {
    Header writer = record.headers().lastHeader(BRIDGE);
    return writer != null && Arrays.equals(writer.value(), bridge);
  }

  /** Writes progress, or takes it back with null. */
  void write(
      int partition, PublisherId publisher, @Nullable BridgeProgress progress, Callback callback) {
    byte[] value = progress == null ? null : BridgeProgressCodec.encode(progress);
    try {
      producer.send(
          new ProducerRecord<>(
              Topics.BRIDGE_PROGRESS,
              partition,
              publisher.key().getBytes(StandardCharsets.UTF_8),
              value,
              List.of(new RecordHeader(BRIDGE, bridge))),
          callback);
    } catch (RuntimeException e) {
      callback.onCompletion(null, e);
    }
  }
}
