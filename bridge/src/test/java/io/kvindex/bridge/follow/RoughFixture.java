// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.Accounts.of;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.zmq.ReplayPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A follower that is sent more bad than good, faster than any engine sends, with a producer that
 * takes all; and how much of it was sent live.
 */
abstract class RoughFixture extends FollowerFixture {

  static final Duration LATER = Duration.ofSeconds(60);

  /** The engine's next number. */
  long next;

  long sentLive;

  RoughFixture() {
    super(
        new ReplayPolicy(2, Duration.ofSeconds(2), 2, 4, 8, Duration.ofMillis(10)),
        new FollowLimits(
            100_000,
            200,
            1L << 20,
            4_096,
            Duration.ofMillis(20),
            Duration.ofMillis(50),
            Duration.ofMinutes(1),
            GapPolicy.KEEP,
            0),
        16L << 20,
        new MockProducer<>(
            true,
            new RoundRobinPartitioner(),
            new ByteArraySerializer(),
            new ByteArraySerializer()));
  }

  /** Until the subscription has taken effect: what was sent before went nowhere. */
  final void connect(Following following) {
    await()
        .atMost(LATER)
        .until(
            () -> {
              engine.live(new byte[] {1});
              return received(following) > 0;
            });
    long[] before = {-1};
    await()
        .atMost(LATER)
        .pollInterval(Duration.ofMillis(200))
        .until(() -> before[0] == (before[0] = received(following)));
    sentLive = received(following);
  }

  /** Until all that was sent is read and decided on, so that no socket has to drop any. */
  final void awaitQuiet(Following following) {
    await().atMost(LATER).until(() -> received(following) >= sentLive);
    await().atMost(LATER).until(() -> of(following.status().counters(), "frames_waiting") == 0);
  }

  /** What the engine has like that for good. */
  final void publish(byte[] payload) {
    engine.publish(next++, payload);
    sentLive++;
  }

  final void sendLive(byte[]... frames) {
    engine.live(frames);
    sentLive++;
  }

  /** The next batch, as far as it came; the engine has it whole. */
  final void publishCutOff(byte[] topic, Random random) {
    long sequence = next++;
    engine.publishUnheard(sequence, sequence);
    byte[] whole = engine.published(sequence);
    sendLive(
        topic, FakeEngine.sequence(sequence), Arrays.copyOf(whole, random.nextInt(whole.length)));
  }

  private static long received(Following following) {
    return of(following.status().counters(), "frames_live");
  }
}
