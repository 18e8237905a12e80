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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
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
  private static final Sent SENT = new Sent();

  private final CountDownLatch over = new CountDownLatch(1);
  private final List<FakeEngine> engines = new ArrayList<>();

  SlowNamesTest() {
    super(ReplayPolicy.DEFAULT, FollowLimits.DEFAULT, 16L << 20, SENT);
    SENT.batches.clear();
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
    List<Following> slow = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      slow.add(start("slow-" + i, "tcp://slow-" + i + ":5557", "tcp://slow-replay-" + i + ":5558"));
      slow.add(start("replay-" + i, engines.get(i).endpoint(), "tcp://slow-" + i + ":5558"));
    }
    for (long number = 1; number <= ROUNDS; number++) {
      publish(number); // while those names are being looked up, which ends with this test only
    }

    engines.get(0).disconnect();
    engines.get(0).reconnect();
    healthy.add(startHealthy(HEALTHY));
    awaitActive(healthy);
    publish(1 + ROUNDS);
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

  /** Publishes that batch everywhere, and waits until each is on its way to Kafka. */
  private void publish(long number) {
    for (int i = 0; i < HEALTHY; i++) {
      engines.get(i).publish(number, number);
    }
    await().atMost(SOON).until(() -> SENT.hasAll(HEALTHY, number));
  }

  private static String named(String endpoint, boolean is) {
    return is ? endpoint.replace("127.0.0.1", "engine" + endpoint.substring(16)) : endpoint;
  }

  private Following start(String name, String endpoint, String replay) throws InterruptedException {
    return follow(
        new Life(
            Site.engine(name, endpoint, replay), new Incarnation(3, 7, 0), null, false, false));
  }

  /** What was handed to Kafka's producer. */
  private static final class Sent extends MockProducer<byte[], byte[]> {
    private final Set<String> batches = ConcurrentHashMap.newKeySet();

    Sent() {
      super(cluster(), true, null, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public synchronized Future<RecordMetadata> send(
        ProducerRecord<byte[], byte[]> record, Callback callback) {
      if (record.topic().equals(Topics.EVENTS)) {
        EventRecord event = EventRecordCodec.decode(record.value());
        String key = event.stream().publisher().instanceId() + "/" + event.position().eventId();
        batches.add(key);
      }
      return super.send(record, callback);
    }

    boolean hasAll(int engines, long number) {
      for (int i = 0; i < engines; i++) {
        if (!batches.contains("e" + i + "/" + number)) {
          return false;
        }
      }
      return true;
    }
  }
}
