// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.Accounts.assertBalanced;
import static io.kvindex.bridge.follow.Accounts.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.decode.RejectReason;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.metrics.FaultLog;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.topic.Topics;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * A follower is sent everything that can go wrong, on real sockets: whatever it received has to be
 * found again among the causes, frame by frame and event by event.
 */
@Timeout(120)
class AccountingTest extends RoughFixture {

  private static final int STEPS = 600;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void shouldFindEachFrameAndEventAmongTheCauses_whenEverythingGoesWrong(int run) throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger faults = (Logger) LoggerFactory.getLogger(FaultLog.class);
    faults.addAppender(log);
    try {
      account(run, log);
    } finally {
      faults.detachAppender(log);
    }
  }

  private void account(int run, ListAppender<ILoggingEvent> log) throws Exception {
    final long began = System.nanoTime();
    Random random = Fuzz.random(AccountingTest.class);
    Following following = follow(run == 4 ? null : engine.replayEndpoint());
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
    await().atMost(LATER).until(following::isSettled);
    await().atMost(LATER).untilAsserted(() -> assertBalanced(following.status()));
    Map<String, Long> counters = following.status().counters();
    if (run % 2 == 0) {
      assertThat(of(counters, "frames_live")).isEqualTo(sentLive);
    }
    assertEvents(counters);
    assertThat(of(counters, FrameOutcome.MALFORMED.label())).isPositive();
    assertThat(of(counters, FrameOutcome.QUARANTINED.label())).isPositive();
    assertThat(of(counters, "gaps_found")).as(counters::toString).isPositive();
    assertLogged(counters, log.list, 1 + TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - began));
  }

  /** Each cause, and each of them no more than once a minute. */
  private static void assertLogged(
      Map<String, Long> counters, List<ILoggingEvent> log, long minutes) {
    Map<String, Long> lines =
        log.stream()
            .map(line -> Objects.requireNonNull(line.getArgumentArray())[1].toString())
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    assertThat(lines)
        .as(counters::toString)
        .containsKeys(
            FrameOutcome.MALFORMED.label(),
            RejectReason.NOT_MSGPACK.label(),
            SkipReason.UNKNOWN_TAG.label())
        .doesNotContainKey(FrameOutcome.DUPLICATE_OR_LATE.label())
        .allSatisfy((cause, count) -> assertThat(count).as(cause).isLessThanOrEqualTo(minutes));
  }

  /** One thing that engines, networks and strangers do. */
  private void misbehave(Random random) {
    switch (random.nextInt(14)) {
      case 0 -> sendLive(FakeEngine.sequence(next));
      case 1 -> sendLive(new byte[0], randomBytes(random, 12, 8), FakeEngine.payload(next));
      case 2 -> sendLive(new byte[0], FakeEngine.sequence(-1), FakeEngine.payload(next));
      case 3 -> late(random);
      case 4 -> publishCutOff(new byte[0], random);
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

  private void late(Random random) {
    long sequence = Math.max(0, next - 1 - random.nextInt(20));
    byte[] payload = engine.publishedOrNull(sequence);
    if (payload != null) {
      sendLive(new byte[0], FakeEngine.sequence(sequence), payload);
    }
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

  /** What it says it passed on is what the producer was given. */
  private void assertEvents(Map<String, Long> counters) {
    Map<EventLabel, Long> sent = new EnumMap<>(EventLabel.class);
    long quarantined = 0;
    long batches = 0;
    for (var record : producer.history()) {
      if (record.topic().equals(Topics.QUARANTINE)) {
        quarantined++;
        continue;
      }
      EventRecord event = EventRecordCodec.decode(record.value());
      batches += event.position().last() && !event.isOpening() ? 1 : 0;
      EventLabel.count(event.events()).forEach((kind, n) -> sent.merge(kind, n, Long::sum));
    }
    assertThat(of(counters, "batches")).isEqualTo(batches);
    assertThat(of(counters, FrameOutcome.QUARANTINED.label())).isEqualTo(quarantined);
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
}
