// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the quarantine topic up to the end it has when asked. No payload is kept: whoever is handed
 * a frame has to drop it before the next. Thread-safe.
 */
final class QuarantineLog {

  private static final Logger LOG = LoggerFactory.getLogger(QuarantineLog.class);
  private static final Duration POLL = Duration.ofMillis(100);

  /** Records of the first look back from the end; each further one goes back twice as far. */
  private static final long MIN_SPAN = 256;

  /** The topic has one partition, which the start-up check holds it to. */
  private static final TopicPartition SOURCE = new TopicPartition(Topics.QUARANTINE, 0);

  private final Map<String, Object> kafka;
  private final Duration timeout;

  QuarantineLog(Map<String, Object> kafka, Duration timeout) {
    this.kafka =
        ClientKind.CONSUMER.settings(
            kafka,
            Map.of(
                // What retention deleted meanwhile is passed over.
                "auto.offset.reset",
                "earliest",
                // A fetch that waits for news at the end would hold up the look back that follows.
                "fetch.max.wait.ms",
                20));
    this.timeout = timeout;
  }

  /**
   * Hands over every frame of the publishers asked for that can be read, oldest first.
   *
   * @throws TimeoutException if it can not be read to its end in time
   */
  void readAll(Predicate<PublisherId> which, BiConsumer<PublisherId, QuarantinedFrame> to) {
    try (Reading reading = new Reading()) {
      reading.scan(reading.begin, reading.end, record -> hand(record, which, to));
    }
  }

  /**
   * Hands over the newest frames of the publishers asked for, oldest first. Goes back from the end
   * no farther than needed.
   *
   * @param limit most frames to hand over, at least 1
   * @throws TimeoutException if they are not found in time
   */
  void readNewest(
      Predicate<PublisherId> which, int limit, BiConsumer<PublisherId, QuarantinedFrame> to) {
    try (Reading reading = new Reading()) {
      Deque<Long> found = newest(reading, which, limit);
      if (!found.isEmpty()) {
        reading.scan(
            found.getFirst(),
            found.getLast() + 1,
            record -> {
              if (!found.isEmpty() && found.getFirst() <= record.offset()) {
                found.removeFirst();
                hand(record, which, to);
              }
            });
      }
    }
  }

  /** Offsets only, ascending: the frames themselves may be large. */
  private static Deque<Long> newest(Reading reading, Predicate<PublisherId> which, int limit) {
    Deque<Long> found = new ArrayDeque<>();
    long span = Math.max(limit, MIN_SPAN);
    for (long to = reading.end; to > reading.begin && found.size() < limit; span *= 2) {
      long from = Math.max(reading.begin, to - span);
      Deque<Long> here = new ArrayDeque<>();
      reading.scan(
          from,
          to,
          record -> {
            PublisherId publisher = publisher(record);
            if (publisher != null && which.test(publisher)) {
              here.addLast(record.offset());
              if (here.size() + found.size() > limit) {
                here.removeFirst();
              }
            }
          });
      for (Iterator<Long> i = here.descendingIterator(); i.hasNext(); ) {
        found.addFirst(i.next());
      }
      to = from;
    }
    return found;
  }

  private static void hand(
      ConsumerRecord<byte[], byte[]> record,
      Predicate<PublisherId> which,
      BiConsumer<PublisherId, QuarantinedFrame> to) {
    PublisherId publisher = publisher(record);
    QuarantinedFrame frame =
        publisher != null && which.test(publisher) ? decode(record.value()) : null;
    if (publisher != null && frame != null) {
      to.accept(publisher, frame);
    }
  }

  private static @Nullable PublisherId publisher(ConsumerRecord<byte[], byte[]> record) {
    try {
      return PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException | NullPointerException e) {
      LOG.debug("quarantine offset={} names no publisher", record.offset(), e);
      return null;
    }
  }

  private static @Nullable QuarantinedFrame decode(byte @Nullable [] value) {
    try {
      return value == null ? null : QuarantineCodec.decode(value);
    } catch (MalformedRecordException e) {
      LOG.debug("quarantine record is not readable", e);
      return null;
    }
  }

  /** One request's reading, with the topic's bounds as of its start. */
  private final class Reading implements AutoCloseable {
    private final long deadline = System.nanoTime() + timeout.toNanos();
    private final KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    private final long begin;
    private final long end;

    Reading() {
      try {
        consumer.assign(List.of(SOURCE));
        begin = consumer.beginningOffsets(List.of(SOURCE), timeout).getOrDefault(SOURCE, 0L);
        end = consumer.endOffsets(List.of(SOURCE), timeout).getOrDefault(SOURCE, 0L);
      } catch (RuntimeException e) {
        consumer.close();
        throw e;
      }
    }

    /** Hands over the records from {@code from} on and before {@code to}. */
    void scan(long from, long to, Consumer<ConsumerRecord<byte[], byte[]>> sink) {
      consumer.seek(SOURCE, from);
      while (consumer.position(SOURCE, timeout) < to) {
        if (System.nanoTime() - deadline > 0) {
          throw new TimeoutException("the quarantine was not read in time");
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          if (record.offset() < to) {
            sink.accept(record);
          }
        }
      }
    }

    @Override
    public void close() {
      consumer.close();
    }
  }
}
