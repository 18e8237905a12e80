// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.follow.Following;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
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
  private final BridgeMetrics metrics;

  ControlRecords(Producer<byte[], byte[]> producer, BridgeMetrics metrics) {
    this.producer = producer;
    this.metrics = metrics;
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

  /** Starts the writes that are due; returns at once. */
  void write(Collection<Followed> all) {
    all.forEach(this::write);
  }

  /** Starts the write if it is due. */
  void write(Followed followed) {
    Following following = followed.following;
    if (following == null || followed.writing || followed.gone) {
      return;
    }
    following.report(progress -> write(followed, progress));
  }

  private void write(Followed followed, BridgeProgress progress) {
    if (followed.isWritten(progress)) {
      return;
    }
    followed.writing = true;
    int foreign = followed.foreign();
    write(
        followed.partition,
        progress.publisher(),
        progress,
        (metadata, problem) -> {
          if (problem != null) {
            metrics.produceError(problem);
          } else {
            followed.written(progress, foreign);
          }
          followed.writing = false;
        });
  }

  /** Whether Kafka has the newest progress of all of them. */
  boolean isWritten(Collection<Followed> all) {
    return all.stream()
        .allMatch(
            followed -> {
              Following following = followed.following;
              return following == null
                  || following.isClaiming()
                  || followed.isWritten(following.progress());
            });
  }
}
