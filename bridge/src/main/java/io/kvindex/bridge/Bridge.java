// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import io.kvindex.bridge.control.ControlLoop;
import io.kvindex.bridge.follow.Followers;
import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.KafkaSettings;
import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.zmq.IoLoops;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.bridge.zmq.Resolver;
import io.kvindex.model.chaos.Knob;
import io.kvindex.model.member.MemberWatch;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.topic.Topics;
import io.kvindex.model.topic.follow.TopicFollower;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the events of registered publishers from ZMQ into Kafka: follows its share of the
 * registrations topic, joins each publisher by replay, and writes one record per batch to {@code
 * kvindex.events}. Its topics must exist. Thread-safe.
 */
public final class Bridge implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Bridge.class);
  private static final Duration CLOSE = Duration.ofSeconds(5);

  /** Consumer group all bridges of a site share. */
  private static final String GROUP = "kvindex-bridge";

  /** Longest outage of Kafka a record is kept for. */
  private static final Duration DELIVERY = Duration.ofMinutes(10);

  /** Each takes as long as the producer waits for metadata, 10 s. */
  private static final int METADATA_ATTEMPTS = 6;

  private final Producer<byte[], byte[]> producer;
  private final Resolver resolver;
  private final IoLoops loops;
  private final Replays replays;
  private final ControlLoop control;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final @Nullable MemberWatch watch;
  private final TopicFollower progress;

  private Bridge(BridgeConfig config, Producer<byte[], byte[]> producer, MeterRegistry registry) {
    this.producer = producer;
    BridgeMetrics metrics = new BridgeMetrics(registry);
    SendBudget budget = new SendBudget(inFlightBytes());
    int partitions = partitionsOf(Topics.EVENTS);
    // The first frame of a quarantine must not wait for metadata on a loop.
    partitionsOf(Topics.QUARANTINE);
    partitionsOf(Topics.BRIDGE_PROGRESS);
    EventSink sink = new EventSink(producer, partitions, config.rawQuarantine(), budget, metrics);
    resolver = new Resolver(Resolver.Lookup.SYSTEM);
    loops = IoLoops.start(budget::gate, resolver);
    replays = new Replays(loops.context(), config.replay(), resolver);
    Followers followers = new Followers(loops, replays, sink, metrics, config.limits());
    Map<String, Object> member =
        KafkaSettings.member(config.kafka(), GROUP, config.groupInstanceId());
    watch =
        MemberWatch.of(
            config.kafka(),
            GROUP,
            config.groupInstanceId(),
            KafkaSettings.session(member),
            Counter.builder("kvindex.bridge.members.removed")
                    .description("bridges, dead or standing still, this one had leave the group")
                    .register(registry)
                ::increment);
    control =
        new ControlLoop(
            new KafkaConsumer<>(member, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
            new KafkaConsumer<>(
                KafkaSettings.reader(config.kafka()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer()),
            producer,
            sink,
            followers,
            metrics,
            config.progressEvery(),
            KafkaSettings.session(member),
            config.generations());
    progress = TopicFollower.start(config.kafka(), Topics.BRIDGE_PROGRESS, control::noteProgress);
    registry.gauge("kvindex.bridge.inflight.bytes", budget, SendBudget::inFlightBytes);
    registry.gauge("kvindex.bridge.frames.waiting", control, Bridge::waiting);
    for (PublisherState state : PublisherState.values()) {
      registry.gauge(
          "kvindex.bridge.publishers",
          List.of(io.micrometer.core.instrument.Tag.of("state", state.wireName())),
          control,
          c -> c.workers().stream().filter(worker -> worker.state() == state).count());
    }
  }

  /** Most bytes sent to Kafka and not acknowledged yet; sockets are not read beyond it. */
  private static long inFlightBytes() {
    long bytes = Knob.SEND_BUDGET_BYTES.or(16L << 20);
    if (bytes < 1 << 20) {
      throw new IllegalArgumentException("inFlightBytes must be >= 1 MiB, got " + bytes);
    }
    return bytes;
  }

  /** Who starts while a broker is being restarted waits for it. */
  private int partitionsOf(String topic) {
    for (int attempt = 1; ; attempt++) {
      try {
        return producer.partitionsFor(topic).size();
      } catch (TimeoutException e) {
        if (attempt == METADATA_ATTEMPTS) {
          throw e;
        }
        LOG.warn("Kafka does not tell of {} yet, asking again: {}", topic, e.getMessage());
      }
    }
  }

  private static double waiting(ControlLoop control) {
    return control.workers().stream()
        .mapToLong(worker -> worker.counters().getOrDefault("frames_waiting", 0L))
        .sum();
  }

  /**
   * Starts a bridge; it joins its group in the background.
   *
   * @throws org.apache.kafka.common.KafkaException if the cluster or a topic can not be reached
   */
  public static Bridge start(BridgeConfig config, MeterRegistry registry) {
    Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            KafkaSettings.producer(config.kafka(), inFlightBytes(), DELIVERY),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    try {
      Bridge bridge = new Bridge(config, producer, registry);
      bridge.control.start();
      if (bridge.watch != null) {
        bridge.watch.start();
      }
      return bridge;
    } catch (RuntimeException e) {
      producer.close(Duration.ZERO);
      throw e;
    }
  }

  /** The publishers this bridge follows now. */
  public List<WorkerStatus> workers() {
    return control.workers();
  }

  /** Whether it has its share of the publishers and follows each of them. */
  public boolean isReady() {
    return control.isSettled();
  }

  /** Whether its threads run. */
  public boolean isAlive() {
    return control.isAlive() && loops.isAlive();
  }

  /**
   * When the oldest batch was read from ZMQ that Kafka does not have yet, microseconds since the
   * epoch; empty = it has all.
   */
  public OptionalLong oldestUnackedMicros() {
    return control.oldestUnackedMicros();
  }

  /** Leaves as a killed process does: nothing more is written, not even progress. For tests. */
  void halt() throws InterruptedException {
    closed.set(true);
    control.stopWriting();
    replays.close();
    loops.close();
    resolver.close();
    producer.close(Duration.ZERO);
    control.close();
    progress.close();
  }

  /**
   * Stops reading, waits until what was read is in Kafka, writes progress, leaves: 15 s at most.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      control.close();
      replays.close();
      loops.close();
      resolver.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      progress.close();
      producer.close(CLOSE);
      if (watch != null) {
        watch.close();
      }
    }
  }
}
