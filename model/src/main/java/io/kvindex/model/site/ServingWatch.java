// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the site's record, for as long as a process runs: one daemon thread and one partition.
 * While Kafka is away nothing changes. Start once, close once.
 */
public final class ServingWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ServingWatch.class);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final long PAUSE_MS = 2_000;
  private static final TopicPartition COPY = new TopicPartition(Topics.REGISTRATIONS, 0);

  private final org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer;
  private final Consumer<Serving> changed;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;
  private Serving newest;
  private Serving told;

  /**
   * @param consumer closed with this object
   */
  ServingWatch(
      org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
      Serving now,
      Consumer<Serving> changed) {
    this.consumer = consumer;
    this.changed = changed;
    newest = now;
    told = now;
    thread = new Thread(this::run, "kvindex-serving");
    thread.setDaemon(true);
  }

  /**
   * Begins to follow.
   *
   * @param kafka settings of Kafka clients, at least {@code bootstrap.servers}
   * @param now what is known already
   * @param changed told of each newer statement, in this object's thread; must not wait. Of two
   *     that were made at once, with the same number, the one behind the other in the log is newer,
   *     as it is the one that compaction keeps
   */
  public static ServingWatch start(
      Map<String, Object> kafka, Serving now, Consumer<Serving> changed) {
    ServingWatch watch =
        new ServingWatch(
            new KafkaConsumer<>(
                ClientKind.CONSUMER.settings(
                    kafka, Map.of("enable.auto.commit", false, "allow.auto.create.topics", false)),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer()),
            now,
            changed);
    watch.start();
    return watch;
  }

  void start() {
    thread.start();
  }

  private void run() {
    try (consumer) {
      consumer.assign(List.of(COPY));
      // From the beginning: what was said between the caller's look and now must not be missed.
      consumer.seekToBeginning(List.of(COPY));
      while (closing.getCount() > 0) {
        poll();
      }
    } catch (WakeupException e) {
      LOG.debug("closed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void poll() throws InterruptedException {
    try {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        if (SiteRecord.isKey(record.key()) && record.value() != null) {
          take(record.value());
        }
      }
      tell();
    } catch (WakeupException e) {
      throw e;
    } catch (KafkaException e) {
      LOG.warn("whose table serves can not be read now, what is known stays: {}", e.toString());
      pause();
    }
  }

  private void pause() throws InterruptedException {
    if (closing.await(PAUSE_MS, TimeUnit.MILLISECONDS)) {
      LOG.debug("closed while Kafka was away");
    }
  }

  private void take(byte[] record) {
    try {
      Serving stated = SiteRecord.decode(record).serving();
      if (stated.number() >= newest.number()) {
        newest = stated;
      }
    } catch (MalformedRecordException e) {
      LOG.warn("passed over a site record that can not be read: {}", e.getMessage());
    }
  }

  /** Once for all that was read together: what was overtaken at once was never true for anybody. */
  private void tell() {
    if (!newest.equals(told)) {
      told = newest;
      changed.accept(newest);
    }
  }

  @Override
  public void close() {
    if (closing.getCount() > 0) {
      closing.countDown();
      consumer.wakeup();
    }
  }
}
