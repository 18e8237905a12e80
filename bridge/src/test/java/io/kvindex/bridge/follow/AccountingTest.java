// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.Accounts.assertBalanced;
import static io.kvindex.bridge.follow.Accounts.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A follower is sent everything that can go wrong, on real sockets: whatever it received has to be
 * found again among the causes, frame by frame and event by event.
 */
@Timeout(120)
class AccountingTest {

  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int STEPS = 600;

  private final MockProducer<byte[], byte[]> producer =
      new MockProducer<>(
          true, new RoundRobinPartitioner(), new ByteArraySerializer(), new ByteArraySerializer());
  private final SendBudget budget = new SendBudget(16L << 20);
  private final BridgeMetrics metrics = new BridgeMetrics(new SimpleMeterRegistry());
  private final IoLoop loop = new IoLoop(budget);
  private final Replays replays =
      new Replays(
          loop.context(),
          new ReplayPolicy(2, Duration.ofSeconds(2), 2, 4, 8, Duration.ofMillis(10)));
  private final FakeEngine engine = new FakeEngine(true);
  private long lives = 100;
  private long next;
  private long sentLive;

  @AfterEach
  void close() throws Exception {
    replays.close();
    loop.close();
    engine.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void shouldFindEachFrameAndEventAmongTheCauses_whenEverythingGoesWrong(int run) throws Exception {
    System.out.println("AccountingTest run " + run);
    Random random = Fuzz.random(AccountingTest.class);
    FollowLimits limits =
        new FollowLimits(
            100_000,
            200,
            1L << 20,
            4_096,
            Duration.ofMillis(20),
            Duration.ofMinutes(1),
            GapPolicy.KEEP);
    Following following = follow(limits, run == 4 ? null : engine.replayEndpoint());
    connect(following);
    for (int i = 0; i < STEPS; i++) {
      misbehave(random);
      if (i % 100 == 0) {
        awaitQuiet(following);
      }
    }
    if (run % 2 == 0) {
      awaitQuiet(following);
    }
    following.stop();
    await().atMost(SOON).until(following::isSettled);
    await().atMost(SOON).untilAsserted(() -> assertBalanced(following.status()));
    Map<String, Long> counters = following.status().counters();
    System.out.println("AccountingTest run " + run + " " + counters);
    if (run % 2 == 0) {
      assertThat(of(counters, "frames_live")).isEqualTo(sentLive);
    }
    assertEvents(counters);
    assertThat(of(counters, FrameOutcome.MALFORMED.label())).isPositive();
    assertThat(of(counters, FrameOutcome.QUARANTINED.label())).isPositive();
    assertThat(of(counters, "gaps_found")).isPositive();
  }

  private void connect(Following following) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              sendLive(new byte[] {1});
              return received(following) > 0;
            });
    // Those before the subscription took effect went nowhere.
    awaitStanding(following);
    sentLive = of(following.status().counters(), "frames_live");
  }

  /** One thing that engines, networks and strangers do. */
  private void misbehave(Random random) {
    switch (random.nextInt(14)) {
      case 0 -> sendLive(FakeEngine.sequence(next));
      case 1 -> sendLive(new byte[0], randomBytes(random, 12, 8), FakeEngine.payload(next));
      case 2 -> sendLive(new byte[0], FakeEngine.sequence(-1), FakeEngine.payload(next));
      case 3 -> late(random);
      case 4 -> damagedOnItsWay(random);
      case 5 -> damagedForGood(random);
      case 6 -> engine.publishUnheard(next, next++);
      case 7 -> {
        if (random.nextInt(30) == 0) {
          restart(random);
        }
      }
      case 8 -> skippedEvent();
      case 9 -> {
        if (random.nextInt(10) == 0) {
          engine.forgetBefore(next - random.nextInt(5));
        }
      }
      default -> publish(FakeEngine.payload(next));
    }
  }

  private void publish(byte[] payload) {
    engine.publish(next++, payload);
    sentLive++;
  }

  private void sendLive(byte[]... frames) {
    engine.live(frames);
    sentLive++;
  }

  private void late(Random random) {
    long sequence = Math.max(0, next - 1 - random.nextInt(20));
    byte[] payload = engine.publishedOrNull(sequence);
    if (payload != null) {
      sendLive(new byte[0], FakeEngine.sequence(sequence), payload);
    }
  }

  private void damagedOnItsWay(Random random) {
    long sequence = next++;
    engine.publishUnheard(sequence, sequence);
    byte[] whole = engine.published(sequence);
    sendLive(
        new byte[0],
        FakeEngine.sequence(sequence),
        Arrays.copyOf(whole, random.nextInt(whole.length)));
  }

  private void damagedForGood(Random random) {
    publish(randomBytes(random, 1 + random.nextInt(30), -1));
  }

  private void skippedEvent() {
    byte[] payload = FakeEngine.payload(next);
    byte[] tag = "BlockStored".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    for (int i = 0; i + tag.length <= payload.length; i++) {
      if (Arrays.equals(payload, i, i + tag.length, tag, 0, tag.length)) {
        payload[i] = 'X';
      }
    }
    publish(payload);
  }

  private void restart(Random random) {
    engine.restart();
    next = 0;
    for (int i = random.nextInt(3); i >= 0; i--) {
      publish(FakeEngine.payload(next));
    }
  }

  private static byte[] randomBytes(Random random, int length, int not) {
    byte[] bytes = new byte[length == not ? length + 1 : length];
    random.nextBytes(bytes);
    bytes[0] = (byte) 0xc1; // no value of msgpack begins so
    return bytes;
  }

  private static long received(Following following) {
    return of(following.status().counters(), "frames_live");
  }

  /** Until all that was sent live is read, so that no socket has to drop any. */
  private void awaitQuiet(Following following) {
    await().atMost(SOON).until(() -> received(following) >= sentLive);
    await().atMost(SOON).until(() -> of(following.status().counters(), "frames_waiting") == 0);
  }

  private static void awaitStanding(Following following) {
    long[] before = {-1};
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              long now = received(following);
              boolean stands = now == before[0];
              before[0] = now;
              return stands;
            });
  }

  /** What it says it passed on is what the producer was given. */
  private void assertEvents(Map<String, Long> counters) {
    Map<EventLabel, Long> sent = new EnumMap<>(EventLabel.class);
    ByteArrayOutputStream quarantined = new ByteArrayOutputStream();
    long batches = 0;
    for (var record : producer.history()) {
      if (record.topic().equals(Topics.QUARANTINE)) {
        quarantined.write(1);
        continue;
      }
      EventRecord event = EventRecordCodec.decode(record.value());
      batches += event.position().last() && !event.isOpening() ? 1 : 0;
      EventLabel.count(event.events()).forEach((kind, n) -> sent.merge(kind, n, Long::sum));
    }
    assertThat(of(counters, "batches")).isEqualTo(batches);
    assertThat(of(counters, FrameOutcome.QUARANTINED.label())).isEqualTo(quarantined.size());
    assertThat(of(counters, "events_stored")).isEqualTo(sent.get(EventLabel.STORED));
    long skipped =
        counters.entrySet().stream()
            .filter(counter -> counter.getKey().startsWith("skipped_"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    assertThat(skipped).isPositive();
    // Each readable batch of this engine holds one event.
    assertThat(of(counters, "events"))
        .isEqualTo(of(counters, "events_stored") + skipped)
        .isEqualTo(counters.get(FrameOutcome.APPLIED.label()));
  }

  private Following follow(FollowLimits limits, @Nullable String replayEndpoint)
      throws InterruptedException {
    budget.onReopened(loop::wakeUp);
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    return new Followers(loop, replays, sink, EngineBatchDecoder::new, metrics, limits)
        .start(
            new Life(
                Site.engine("e", engine.endpoint(), replayEndpoint),
                new Incarnation(3, 7, 0),
                null,
                false,
                false),
            (claim, done) -> done.done(++lives, null));
  }
}
