// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.Accounts.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.decode.Mutants;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.topic.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Messages that are damaged in every way come through a real PUB socket to a real follower: it goes
 * on, keeps nothing, and says of each frame what became of it.
 */
class SocketFuzzTest {

  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int INPUTS = 20_000;
  private static final int QUIET_EVERY = 500;
  private static final int KEPT_FOR_REPLAY = 2_000;
  private static final int LARGE = 100_000;

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
  private long sent;
  private int steps;

  @AfterEach
  void close() throws Exception {
    replays.close();
    loop.close();
    engine.close();
  }

  @Test
  @Timeout(3_600)
  void shouldGoOnAndAccountForAll_whenMessagesAreDamaged() throws Exception {
    Following following = follow();
    connect(following);
    Fuzz.of(SocketFuzzTest.class, INPUTS)
        .run(
            (random, one) -> {
              step(random);
              if (++steps % QUIET_EVERY == 0) {
                awaitQuiet(following);
                producer.clear();
                engine.forgetBefore(next - KEPT_FOR_REPLAY);
              }
            });
    long good = next;
    publish(FakeEngine.payload(good));
    await().atMost(SOON).until(() -> isProduced(good));
    following.stop();
    await().atMost(SOON).until(following::isSettled);
    await().atMost(SOON).untilAsserted(() -> Accounts.assertBalanced(following.status()));
    Map<String, Long> counters = following.status().counters();
    System.out.println("SocketFuzzTest " + counters);
    assertThat(of(counters, "frames_live")).isEqualTo(sent);
    for (FrameOutcome outcome :
        List.of(
            FrameOutcome.APPLIED,
            FrameOutcome.MALFORMED,
            FrameOutcome.QUARANTINED,
            FrameOutcome.UNREADABLE,
            FrameOutcome.DUPLICATE_OR_LATE)) {
      assertThat(of(counters, outcome.label())).as(outcome.label()).isPositive();
    }
  }

  private void step(Random random) {
    switch (random.nextInt(10)) {
      case 0 -> wrongFrames(random);
      case 1 -> damagedOnItsWay(random);
      case 2 -> again(random);
      case 3 -> {
        if (random.nextInt(20) == 0) { // each is asked for
          live(topic(random), FakeEngine.sequence(random.nextLong()), Mutants.payload(random));
        }
      }
      case 4, 5, 6 -> publish(Mutants.payload(random));
      default -> publish(FakeEngine.payload(next));
    }
  }

  /** What the engine has like that for good. */
  private void publish(byte[] payload) {
    // Nothing at all ends a replay.
    engine.publish(next++, payload.length == 0 ? new byte[1] : payload);
    sent++;
  }

  private void live(byte[]... frames) {
    engine.live(frames);
    sent++;
  }

  /** Too few, too many, or a sequence that is none. */
  private void wrongFrames(Random random) {
    byte[] sequence = new byte[length(random)];
    random.nextBytes(sequence);
    List<byte[]> frames = new ArrayList<>();
    frames.add(topic(random));
    frames.add(sequence.length == Long.BYTES ? FakeEngine.sequence(-1) : sequence);
    frames.add(Mutants.payload(random));
    switch (random.nextInt(4)) {
      case 0 -> frames.subList(1 + random.nextInt(2), frames.size()).clear();
      case 1 -> frames.remove(random.nextInt(2));
      case 2 -> frames.add(new byte[length(random)]);
      default -> {}
    }
    live(frames.toArray(byte[][]::new));
  }

  private static byte[] topic(Random random) {
    byte[] topic = new byte[random.nextInt(4) == 0 ? length(random) : 0];
    random.nextBytes(topic);
    return topic;
  }

  /** Mostly near 8, now and then far beyond. */
  private static int length(Random random) {
    return random.nextInt(random.nextInt(100) == 0 ? LARGE : 18);
  }

  /** The engine has it whole. */
  private void damagedOnItsWay(Random random) {
    long sequence = next++;
    engine.publishUnheard(sequence, sequence);
    byte[] whole = engine.published(sequence);
    live(
        topic(random),
        FakeEngine.sequence(sequence),
        Arrays.copyOf(whole, random.nextInt(whole.length)));
  }

  /** Known batches, as they were or damaged. */
  private void again(Random random) {
    long sequence = Math.max(0, next - 1 - random.nextInt(20));
    byte[] payload = engine.publishedOrNull(sequence);
    if (payload != null) {
      int length = random.nextBoolean() ? payload.length : random.nextInt(payload.length);
      live(topic(random), FakeEngine.sequence(sequence), Arrays.copyOf(payload, length));
    }
  }

  private void connect(Following following) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              engine.live(new byte[] {1});
              return received(following) > 0;
            });
    // Those before the subscription took effect went nowhere.
    long[] before = {-1};
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(200))
        .until(() -> before[0] == (before[0] = received(following)));
    sent = received(following);
  }

  /** Until all that was sent is read and decided on, so that no socket has to drop any. */
  private void awaitQuiet(Following following) {
    await().atMost(SOON).until(() -> received(following) >= sent);
    await().atMost(SOON).until(() -> of(following.status().counters(), "frames_waiting") == 0);
  }

  private static long received(Following following) {
    return of(following.status().counters(), "frames_live");
  }

  private boolean isProduced(long sequence) {
    return producer.history().stream()
        .filter(record -> record.topic().equals(Topics.EVENTS))
        .map(record -> EventRecordCodec.decode(record.value()))
        .anyMatch(record -> record.position().eventId() == sequence && !record.events().isEmpty());
  }

  private Following follow() throws InterruptedException {
    budget.onReopened(loop::wakeUp);
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    FollowLimits limits =
        new FollowLimits(
            100_000,
            200,
            1L << 20,
            4_096,
            Duration.ofMillis(20),
            Duration.ofMinutes(1),
            GapPolicy.KEEP);
    return new Followers(loop, replays, sink, EngineBatchDecoder::new, metrics, limits)
        .start(
            new Life(
                Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
                new Incarnation(3, 7, 0),
                null,
                false,
                false),
            (claim, done) -> done.done(++lives, null));
  }
}
