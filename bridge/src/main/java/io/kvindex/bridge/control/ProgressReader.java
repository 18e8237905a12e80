// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.site.SiteRecord;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the newest progress of all publishers of some partitions, and tells what is written from
 * then on. One thread.
 */
final class ProgressReader {

  private static final Logger LOG = LoggerFactory.getLogger(ProgressReader.class);
  private final WholeReader whole;

  /** Up to where each partition was read. */
  private final Map<Integer, Long> ends = new HashMap<>();

  ProgressReader(WholeReader whole) {
    this.whole = whole;
  }

  /**
   * Reads partitions up to the end they have now; by partition.
   *
   * @throws TimeoutException if that takes too long
   */
  Map<Integer, Map<PublisherId, KnownProgress>> read(Collection<Integer> partitions) {
    Map<Integer, Map<PublisherId, KnownProgress>> newest = new HashMap<>();
    partitions.forEach(partition -> newest.put(partition, new HashMap<>()));
    Map<TopicPartition, Long> read =
        whole.read(
            sources(partitions),
            record -> note(record, newest.getOrDefault(record.partition(), new HashMap<>())));
    read.forEach((source, end) -> ends.put(source.partition(), end));
    return newest;
  }

  /**
   * A record written since its partition was read.
   *
   * @return null if it was read already, or says nothing of a publisher
   */
  @Nullable Seen behind(ConsumerRecord<byte[], byte[]> record) {
    return record.offset() < ends.getOrDefault(record.partition(), Long.MAX_VALUE)
        ? null
        : parse(record);
  }

  /**
   * A record of the topic.
   *
   * @param progress null = the publisher's progress was taken back
   */
  record Seen(PublisherId publisher, @Nullable KnownProgress progress) {}

  private static void note(
      ConsumerRecord<byte[], byte[]> record, Map<PublisherId, KnownProgress> newest) {
    Seen seen = parse(record);
    if (seen == null) {
      return;
    }
    KnownProgress progress = seen.progress();
    KnownProgress before = newest.get(seen.publisher());
    if (progress == null) {
      newest.remove(seen.publisher());
    } else if (before == null || !before.isNewerLifeThan(progress)) {
      newest.put(seen.publisher(), progress);
    }
  }

  private static @Nullable Seen parse(ConsumerRecord<byte[], byte[]> record) {
    if (SiteRecord.isKey(record.key())) {
      return null;
    }
    try {
      PublisherId publisher = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
      return new Seen(
          publisher,
          record.value() == null
              ? null
              : KnownProgress.of(BridgeProgressCodec.decode(record.value()), record.offset()));
    } catch (MalformedRecordException | IllegalArgumentException e) {
      LOG.warn("progress offset={} is ignored: {}", record.offset(), e.getMessage());
      return null;
    }
  }

  private static List<TopicPartition> sources(Collection<Integer> partitions) {
    return partitions.stream().map(p -> new TopicPartition(Topics.BRIDGE_PROGRESS, p)).toList();
  }
}
