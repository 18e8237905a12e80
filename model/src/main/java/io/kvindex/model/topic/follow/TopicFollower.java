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
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.CloseOptions;
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
  private static final long RETRY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int LONGEST_FETCH_MS = 10_000;

  private final String topic;
  private final RecordSink sink;
  private final Consumer<byte[], byte[]> consumer;

  /**
   * Asks for end offsets. On the consumer's connection a question would wait behind the fetch that
   * waits for records: a broker serves one request of a connection at a time.
   */
  private final Admin admin;

  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean caughtUp;

  /** None until the topic was found. */
  private volatile List<TopicPartition> partitions = List.of();

  /** Where the topic ended when it began to be followed, null = not known yet. */
  private @Nullable Map<TopicPartition, Long> firstEnds;

  /** The next offset of each partition that is not visible yet; whoever waits is told of it. */
  private volatile Map<TopicPartition, Long> next = Map.of();

  private final OncePerMinute warnings = new OncePerMinute();

  private TopicFollower(Map<String, Object> clientConfig, String topic, RecordSink sink) {
    this.topic = topic;
    this.sink = sink;
    consumer =
        new KafkaConsumer<>(
            settings(clientConfig), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    admin = Admin.create(ClientKind.ADMIN.settings(clientConfig, Map.of()));
    thread = new Thread(this::run, "follow-" + topic);
    thread.setDaemon(true);
  }

  /** The consumer's. Visible for tests. */
  static Map<String, Object> settings(Map<String, Object> clientConfig) {
    Map<String, Object> own = new HashMap<>();
    own.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    own.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    own.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    // A record ends the wait at once, and these topics are silent for most of the time.
    own.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, LONGEST_FETCH_MS);
    // Whatever a site sets for all its clients: a fetch that waits must not be taken for lost.
    own.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, 3 * LONGEST_FETCH_MS);
    return ClientKind.CONSUMER.settings(clientConfig, own);
  }

  /**
   * Starts following.
   *
   * @param clientConfig at least {@code bootstrap.servers}
   */
  public static TopicFollower start(
      Map<String, Object> clientConfig, String topic, RecordSink sink) {
    TopicFollower follower = new TopicFollower(clientConfig, topic, sink);
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
    await(() -> caughtUp, deadlineNanos);
    for (long left = left(deadlineNanos); left > 0 && !closed; left = left(deadlineNanos)) {
      try {
        Map<TopicPartition, Long> ends = ends(Math.min(left, METADATA_WAIT.toNanos()));
        return await(() -> isVisible(ends), deadlineNanos);
      } catch (KafkaException e) {
        warn(e);
        pause(left(deadlineNanos));
      }
    }
    return false;
  }

  private static long left(long deadlineNanos) {
    return deadlineNanos - System.nanoTime();
  }

  /** Waits until the record at that offset is visible; false past the deadline. */
  public boolean awaitOffset(int partition, long offset, long deadlineNanos)
      throws InterruptedException {
    return await(
        () -> isVisible(Map.of(new TopicPartition(topic, partition), offset + 1)), deadlineNanos);
  }

  /** Whether it was reached in time; looked at whenever something becomes visible. */
  private synchronized boolean await(BooleanSupplier reached, long deadlineNanos)
      throws InterruptedException {
    while (!reached.getAsBoolean()) {
      long left = left(deadlineNanos);
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return true;
  }

  private boolean isVisible(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> next.getOrDefault(end.getKey(), 0L) >= end.getValue());
  }

  private void run() {
    try {
      while (!closed) {
        if (!step()) {
          pause(RETRY_PAUSE_NS);
        }
      }
    } catch (InterruptedException | InterruptException e) {
      LOG.info("follower of {} was interrupted", topic);
    } finally {
      // It is in no group, and would wait for its last fetch to end.
      consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
  }

  private void pause(long longestNanos) throws InterruptedException {
    await(() -> closed, System.nanoTime() + Math.min(longestNanos, RETRY_PAUSE_NS));
  }

  private boolean step() throws InterruptedException {
    try {
      if (partitions.isEmpty()) {
        assign();
      }
      if (firstEnds == null) {
        firstEnds = ends(METADATA_WAIT.toNanos());
      }
      tell(firstEnds);
      apply(consumer.poll(IDLE_POLL));
      return true;
    } catch (WakeupException e) {
      return true; // it is being closed
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException e) {
      warn(e);
      return false;
    }
  }

  private void warn(KafkaException e) {
    if (!closed && warnings.allows()) {
      LOG.warn("cannot read {}, trying again: {}", topic, e.toString());
    }
  }

  private void assign() {
    List<TopicPartition> found =
        consumer.partitionsFor(topic, METADATA_WAIT).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .toList();
    if (found.isEmpty()) {
      throw new KafkaException("topic " + topic + " does not exist");
    }
    consumer.assign(found);
    consumer.seekToBeginning(found);
    partitions = found;
  }

  private Map<TopicPartition, Long> ends(long longestNanos) throws InterruptedException {
    try {
      Map<TopicPartition, ListOffsetsResultInfo> ends =
          admin
              .listOffsets(
                  partitions.stream()
                      .collect(Collectors.toMap(Function.identity(), one -> OffsetSpec.latest())))
              .all()
              .get(longestNanos, TimeUnit.NANOSECONDS);
      return ends.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset()));
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the end of " + topic + " is not known", e);
    }
  }

  /** Tells what is visible by now: all that was given to the sink. */
  private void tell(Map<TopicPartition, Long> first) {
    Map<TopicPartition, Long> now = new HashMap<>();
    for (TopicPartition partition : partitions) {
      now.put(partition, consumer.position(partition, METADATA_WAIT));
    }
    next = now;
    if (!caughtUp && isVisible(first)) {
      sink.caughtUp();
      caughtUp = true;
    }
    wake();
  }

  private synchronized void wake() {
    notifyAll();
  }

  private void apply(ConsumerRecords<byte[], byte[]> records) {
    for (ConsumerRecord<byte[], byte[]> record : records) {
      sink.apply(record);
    }
    if (!records.isEmpty()) {
      sink.publish();
    }
  }

  @Override
  public void close() {
    closed = true;
    wake();
    consumer.wakeup();
    admin.close(Duration.ZERO);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
