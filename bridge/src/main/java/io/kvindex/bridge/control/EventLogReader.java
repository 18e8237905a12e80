// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.produce.BatchMark;
import io.kvindex.bridge.produce.LogEnds;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the events log on from where the progress of publishers is of, all of them at once, so that
 * whoever takes them over knows the last batch that Kafka acknowledged, however long ago progress
 * was written. Control thread only.
 */
final class EventLogReader {

  private static final Logger LOG = LoggerFactory.getLogger(EventLogReader.class);
  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final LogEnds ends;
  private final Duration timeout;
  private final Lease lease;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param consumer without a group; others use it, too, and assign it anew
   * @param ends told how far the log reaches
   * @param timeout how long the log is read at most; what it says behind that is not known then
   * @param lease kept alive meanwhile
   */
  EventLogReader(Consumer<byte[], byte[]> consumer, LogEnds ends, Duration timeout, Lease lease) {
    this.consumer = consumer;
    this.ends = ends;
    this.timeout = timeout;
    this.lease = lease;
  }

  /** Asks how far the log reaches now. */
  void look() {
    consumer
        .endOffsets(all(), lease.call())
        .forEach((source, end) -> ends.note(source.partition(), end));
  }

  /** Brings what is known of those publishers to the end that the log has now. */
  void readOn(Collection<Map<PublisherId, KnownProgress>> known) {
    long[] end = new long[ends.partitions()];
    consumer
        .endOffsets(all(), lease.call())
        .forEach((source, offset) -> end[source.partition()] = offset);
    long[] begin = new long[end.length];
    consumer
        .beginningOffsets(all(), lease.call())
        .forEach((source, offset) -> begin[source.partition()] = offset);
    Map<PublisherId, LifeTail> tails = new HashMap<>();
    long[] from = end.clone();
    for (Map<PublisherId, KnownProgress> some : known) {
      some.forEach(
          (publisher, progress) -> {
            int partition = partition(progress);
            long next = progress.logNext();
            if (next >= 0) {
              tails.put(publisher, new LifeTail(progress, next, begin[partition] > next));
              long first = Math.max(begin[partition], next);
              from[partition] = Math.min(from[partition], first);
            }
          });
    }
    long[] read = read(from, end, tails);
    known.forEach(
        some ->
            some.replaceAll(
                (publisher, old) -> {
                  LifeTail tail = tails.get(publisher);
                  return tail == null ? old : on(old, tail, read[partition(old)]);
                }));
    for (int i = 0; i < end.length; i++) {
      ends.note(i, end[i]);
    }
  }

  private static KnownProgress on(KnownProgress old, LifeTail tail, long read) {
    if (tail.batches() > 0) {
      LOG.info(
          "publisher={} the events log has {} batches more than its progress tells of",
          old.progress().publisher(),
          tail.batches());
    }
    return tail.progress(read);
  }

  /** How far it was read, by partition. */
  private long[] read(long[] from, long[] end, Map<PublisherId, LifeTail> tails) {
    long deadline = System.nanoTime() + timeout.toNanos();
    List<TopicPartition> sources =
        all().stream().filter(s -> from[s.partition()] < end[s.partition()]).toList();
    if (sources.isEmpty()) {
      return end;
    }
    consumer.assign(sources);
    sources.forEach(source -> consumer.seek(source, from[source.partition()]));
    long[] read = end.clone();
    while (sources.stream().anyMatch(source -> position(source) < end[source.partition()])) {
      lease.renew();
      if (System.nanoTime() - deadline > 0) {
        LOG.warn("the events log was not read to its end in {} s", timeout.toSeconds());
        sources.forEach(s -> read[s.partition()] = Math.min(end[s.partition()], position(s)));
        return read;
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        note(record, tails);
      }
    }
    return read;
  }

  private long position(TopicPartition partition) {
    return consumer.position(partition, lease.call());
  }

  private void note(ConsumerRecord<byte[], byte[]> record, Map<PublisherId, LifeTail> tails) {
    if (record.key() == null || record.value() == null) {
      return; // nobody of ours wrote it
    }
    try {
      LifeTail tail = tails.get(publisherOf(record));
      if (tail != null) {
        tail.note(
            EventRecordCodec.decode(record.value()),
            BatchMark.of(record.headers()),
            record.offset());
      }
    } catch (MalformedRecordException | IllegalArgumentException e) {
      if (warnings.allows()) {
        LOG.warn("event record offset={} is ignored: {}", record.offset(), e.getMessage());
      }
    }
  }

  private static PublisherId publisherOf(ConsumerRecord<byte[], byte[]> record) {
    return StreamId.parse(new String(record.key(), StandardCharsets.UTF_8)).publisher();
  }

  private List<TopicPartition> all() {
    return IntStream.range(0, ends.partitions())
        .mapToObj(partition -> new TopicPartition(Topics.EVENTS, partition))
        .toList();
  }

  private int partition(KnownProgress known) {
    return ends.partition(known.progress().table());
  }
}
