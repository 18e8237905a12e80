// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic.follow;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.log.OncePerMinute;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads every partition of a topic from the beginning, in a thread of its own and without a
 * consumer group, so that each replica sees all of it. While Kafka is away what was read stays.
 *
 * <p>{@link #refresh} and {@link #awaitOffset} may be called by any thread.
 */
public final class TopicFollower implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TopicFollower.class);
  private static final Duration IDLE_POLL = Duration.ofSeconds(1);
  private static final Duration METADATA_WAIT = Duration.ofSeconds(5);
  private static final long RETRY_PAUSE_MS = 500;

  private final String topic;
  private final RecordSink sink;
  private final Consumer<byte[], byte[]> consumer;

  /**
   * Asks for end offsets. On the consumer's connection a question would wait behind the fetch that
   * waits for records: a broker serves one request of a connection at a time.
   */
  private final Admin admin;

  private final Progress progress = new Progress();
  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean caughtUp;
  private long ticket;
  private @Nullable Map<TopicPartition, Long> targets;
  private final OncePerMinute warnings = new OncePerMinute();

  private TopicFollower(Map<String, Object> clientConfig, String topic, RecordSink sink) {
    this.topic = topic;
    this.sink = sink;
    Map<String, Object> config = new HashMap<>();
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    consumer =
        new KafkaConsumer<>(
            ClientKind.CONSUMER.settings(clientConfig, config),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    admin = Admin.create(ClientKind.ADMIN.settings(clientConfig, Map.of()));
    thread = new Thread(this::run, "follow-" + topic);
    thread.setDaemon(true);
  }

  /**
   * Starts following.
   *
   * @param clientConfig at least {@code bootstrap.servers}
   */
  public static TopicFollower start(
      Map<String, Object> clientConfig, String topic, RecordSink sink) {
    TopicFollower follower = new TopicFollower(clientConfig, topic, sink);
    follower.progress.askRefresh();
    follower.thread.start();
    return follower;
  }

  /** Whether everything that was in the topic when we started is visible. */
  public boolean caughtUp() {
    return caughtUp;
  }

  /**
   * Waits until everything that is in the topic now is visible.
   *
   * @return false if that took longer than the deadline
   */
  public boolean refresh(long deadlineNanos) throws InterruptedException {
    long asked = progress.askRefresh();
    consumer.wakeup();
    return progress.awaitRefresh(asked, deadlineNanos);
  }

  /** Waits until the record at that offset is visible; false past the deadline. */
  public boolean awaitOffset(int partition, long offset, long deadlineNanos)
      throws InterruptedException {
    return progress.awaitOffset(partition, offset, deadlineNanos);
  }

  private void run() {
    try {
      while (!closed && !step(this::assign)) {
        progress.pause(RETRY_PAUSE_MS);
      }
      while (!closed) {
        if (!step(this::pollOnce)) {
          progress.pause(RETRY_PAUSE_MS);
        }
      }
    } catch (InterruptedException | InterruptException e) {
      LOG.info("follower of {} was interrupted", topic);
    } finally {
      consumer.close();
    }
  }

  private boolean step(Runnable work) {
    try {
      work.run();
      return true;
    } catch (WakeupException e) {
      return true; // somebody waits: look again
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException e) {
      if (!closed && warnings.allows()) {
        LOG.warn("cannot read {}, trying again: {}", topic, e.toString());
      }
      return false;
    }
  }

  private void assign() {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic, METADATA_WAIT).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw new KafkaException("topic " + topic + " does not exist");
    }
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  private void pollOnce() {
    if (consumer.assignment().isEmpty()) {
      assign(); // a wake-up came while assigning
    }
    if (targets == null && progress.refreshOpen()) {
      ticket = progress.refreshAsked();
      targets = ends();
    }
    if (!reached()) {
      apply(consumer.poll(IDLE_POLL));
    }
    if (reached()) {
      targets = null;
      if (!caughtUp) {
        sink.caughtUp();
        caughtUp = true;
      }
      progress.refreshedUpTo(ticket);
      if (!progress.refreshOpen()) {
        apply(consumer.poll(IDLE_POLL));
      }
    }
  }

  private Map<TopicPartition, Long> ends() {
    Map<TopicPartition, OffsetSpec> ends =
        consumer.assignment().stream()
            .collect(Collectors.toMap(Function.identity(), partition -> OffsetSpec.latest()));
    try {
      return admin
          .listOffsets(ends)
          .all()
          .thenApply(
              found ->
                  found.entrySet().stream()
                      .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset())))
          .get(METADATA_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the end of " + topic + " is not known", e);
    }
  }

  private void apply(ConsumerRecords<byte[], byte[]> records) {
    for (ConsumerRecord<byte[], byte[]> record : records) {
      sink.apply(record);
    }
    if (!records.isEmpty()) {
      sink.publish();
    }
    records.nextOffsets().forEach((partition, next) -> progress.at(partition, next.offset()));
  }

  private boolean reached() {
    Map<TopicPartition, Long> wanted = targets;
    if (wanted == null) {
      return true;
    }
    for (Map.Entry<TopicPartition, Long> target : wanted.entrySet()) {
      if (consumer.position(target.getKey(), METADATA_WAIT) < target.getValue()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    closed = true;
    progress.wake();
    consumer.wakeup();
    admin.close(Duration.ZERO);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
