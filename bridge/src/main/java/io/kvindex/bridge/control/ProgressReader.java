// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.site.SiteRecord;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the newest progress of all publishers of some partitions, and what is written from then on.
 * One thread.
 */
final class ProgressReader implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ProgressReader.class);
  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final Duration timeout;
  private final Lease lease;

  /** Up to where each partition has been read. */
  private final Map<TopicPartition, Long> positions = new HashMap<>();

  /**
   * @param consumer without a group; closed with this object
   * @param timeout longest time a read may take
   * @param lease kept alive meanwhile
   */
  ProgressReader(Consumer<byte[], byte[]> consumer, Duration timeout, Lease lease) {
    this.consumer = consumer;
    this.timeout = timeout;
    this.lease = lease;
  }

  /**
   * Reads partitions up to the end they have now; by partition.
   *
   * @throws TimeoutException if that takes longer than the timeout
   */
  Map<Integer, Map<PublisherId, KnownProgress>> read(Collection<Integer> partitions) {
    List<TopicPartition> sources = sources(partitions);
    consumer.assign(sources);
    consumer.seekToBeginning(sources);
    Map<TopicPartition, Long> ends = consumer.endOffsets(sources, lease.call());
    long deadline = System.nanoTime() + timeout.toNanos();
    Map<Integer, Map<PublisherId, KnownProgress>> newest = new HashMap<>();
    partitions.forEach(partition -> newest.put(partition, new HashMap<>()));
    while (!isRead(ends)) {
      lease.renew();
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException(
            "progress was not read to its end in " + timeout.toSeconds() + " s");
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        note(record, newest.getOrDefault(record.partition(), new HashMap<>()));
      }
    }
    positions.putAll(ends);
    return newest;
  }

  /**
   * The ends of any partitions. Asked here, since a member of a group would have to wait for the
   * fetch that waits for records: a broker serves one request of a connection at a time.
   */
  Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    return consumer.endOffsets(partitions, lease.call());
  }

  private boolean isRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey(), lease.call()) >= end.getValue());
  }

  /**
   * Hands over what was written since partitions were read, or since the last call; returns at
   * once.
   */
  void tail(Collection<Integer> partitions, BiConsumer<ConsumerRecord<byte[], byte[]>, Seen> to) {
    Set<TopicPartition> wanted = new HashSet<>(sources(partitions));
    wanted.retainAll(positions.keySet());
    if (!consumer.assignment().equals(wanted)) {
      consumer.assign(wanted);
      wanted.forEach(source -> consumer.seek(source, positions.getOrDefault(source, 0L)));
      positions.keySet().retainAll(wanted);
    }
    if (wanted.isEmpty()) {
      return;
    }
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ZERO)) {
      positions.put(new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
      Seen seen = parse(record);
      if (seen != null) {
        to.accept(record, seen);
      }
    }
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

  @Override
  public void close() {
    consumer.close();
  }
}
