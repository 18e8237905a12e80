// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.topic.Topics;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Names that take long to look up, or have no address, beside engines that have nothing to wait
 * for.
 */
@Timeout(120)
class SlowNamesTest extends FollowerFixture {

  private static final int HEALTHY = 20;
  private static final int ROUNDS = 25;

  /** What a machine with more to do than the test adds is measured first. */
  private static final long MOST_MS = 50;

  private static final Stamps STAMPS = new Stamps();

  private final CountDownLatch over = new CountDownLatch(1);
  private final List<FakeEngine> engines = new ArrayList<>();

  SlowNamesTest() {
    super(ReplayPolicy.DEFAULT, FollowLimits.DEFAULT, 16L << 20, STAMPS);
    STAMPS.seen.clear();
  }

  @AfterEach
  void closeEngines() throws Exception {
    over.countDown();
    for (FakeEngine one : engines) {
      one.close();
    }
  }

  @Override
  List<InetAddress> lookUp(String host) throws UnknownHostException {
    if (host.startsWith("slow")) {
      try {
        over.await(); // longer than any test: whoever waited for it would fail
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new UnknownHostException(host);
    }
    return List.of(InetAddress.getByName("127.0.0.1"));
  }

  @Test
  void shouldDelayNobodyElse_whenThreeNamesAreNotFoundForLong() throws Exception {
    List<Following> healthy = new ArrayList<>();
    for (int i = 0; i < HEALTHY; i++) {
      healthy.add(startHealthy(i));
    }
    awaitActive(healthy);
    publish(0);
    long before = p99(1);
    List<Following> slow = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      slow.add(start("slow-" + i, "tcp://slow-" + i + ":5557", "tcp://slow-replay-" + i + ":5558"));
      slow.add(start("replay-" + i, engines.get(i).endpoint(), "tcp://slow-" + i + ":5558"));
    }
    long beside = p99(1 + ROUNDS);
    System.out.println("p99 alone " + before + " ms, beside slow names " + beside + " ms");
    assertThat(beside).isLessThanOrEqualTo(Math.max(MOST_MS, 2 * before));

    engines.get(0).disconnect();
    engines.get(0).reconnect();
    healthy.add(startHealthy(HEALTHY));
    awaitActive(healthy);
    publish(1 + 2 * ROUNDS);
    assertThat(healthy).allMatch(f -> f.status().counters().getOrDefault("new_lives", 0L) == 0);

    Following unfound = slow.get(0);
    await().atMost(SOON).until(() -> unfound.status().state() == PublisherState.FAILED);
    assertThat(unfound.status().lastError()).contains("slow-0", "still being looked up");
    over.countDown();
    await()
        .atMost(SOON)
        .until(() -> String.valueOf(unfound.status().lastError()).contains("is unknown"));
  }

  private Following startHealthy(int number) throws InterruptedException {
    FakeEngine one = new FakeEngine(true);
    engines.add(one);
    boolean named = number % 2 == 0;
    return start("e" + number, named(one.endpoint(), named), named(one.replayEndpoint(), named));
  }

  private static void awaitActive(List<Following> all) {
    await()
        .atMost(SOON)
        .until(
            () ->
                all.stream()
                    .allMatch(
                        f ->
                            f.status().connected() && f.status().state() == PublisherState.ACTIVE));
  }

  /** Publishes that batch everywhere; milliseconds until each was on its way to Kafka. */
  private long[] publish(long number) {
    long[] nanos = new long[HEALTHY];
    for (int i = 0; i < HEALTHY; i++) {
      nanos[i] = System.nanoTime();
      engines.get(i).publish(number, number);
    }
    await()
        .atMost(SOON)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> STAMPS.hasAll(HEALTHY, number));
    for (int i = 0; i < HEALTHY; i++) {
      nanos[i] = STAMPS.of(i, number) - nanos[i];
    }
    return nanos;
  }

  private long p99(long from) {
    long[] delays =
        LongStream.range(from, from + ROUNDS)
            .flatMap(number -> Arrays.stream(publish(number)))
            .sorted()
            .toArray();
    return TimeUnit.NANOSECONDS.toMillis(delays[delays.length * 99 / 100]);
  }

  private static String named(String endpoint, boolean is) {
    return is ? endpoint.replace("127.0.0.1", "engine" + endpoint.substring(16)) : endpoint;
  }

  private Following start(String name, String endpoint, String replay) throws InterruptedException {
    return follow(
        new Life(
            Site.engine(name, endpoint, replay), new Incarnation(3, 7, 0), null, false, false));
  }

  /** When each batch was handed to Kafka's producer. */
  private static final class Stamps extends MockProducer<byte[], byte[]> {
    private final Map<String, Long> seen = new ConcurrentHashMap<>();

    Stamps() {
      super(cluster(), true, null, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public synchronized Future<RecordMetadata> send(
        ProducerRecord<byte[], byte[]> record, Callback callback) {
      if (record.topic().equals(Topics.EVENTS)) {
        EventRecord event = EventRecordCodec.decode(record.value());
        String key = event.stream().publisher().instanceId() + "/" + event.position().eventId();
        seen.put(key, System.nanoTime());
      }
      return super.send(record, callback);
    }

    boolean hasAll(int engines, long number) {
      for (int i = 0; i < engines; i++) {
        if (!seen.containsKey("e" + i + "/" + number)) {
          return false;
        }
      }
      return true;
    }

    long of(int engine, long number) {
      Long at = seen.get("e" + engine + "/" + number);
      return at == null ? Long.MAX_VALUE : at;
    }
  }
}
