// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines whose clocks say nothing, or something wrong: numbers and connections decide then. */
@Timeout(60)
class ClockTest extends FollowerFixture {

  private static final double NOW = 1_760_000_000;
  private static final @Nullable String NO_REPLAY = null;

  ClockTest() {
    super(
        new ReplayPolicy(4, Duration.ofSeconds(2), 2, 8, 16, Duration.ofMillis(20)),
        FollowLimits.DEFAULT);
  }

  /**
   * @param before the old engine's first time, seconds
   * @param after the new engine's
   * @param step between batches
   */
  @ParameterizedTest
  @CsvSource({
    "1760000000, 1759990000, 0.01", // hours behind
    "1760000000, 1760000000, 0", // stands still
    "0, 0, 0",
    "NaN, NaN, 0",
    "-5, -7, 0.5",
    "1760000000, 1759990000000, 10", // milliseconds
    "1760000000000000000, 1760000000, 1" // nanoseconds before
  })
  void shouldBeginALife_whenANewConnectionBringsALowerNumberAndNoReplayTells(
      double before, double after, double step) throws Exception {
    Following following = follow(NO_REPLAY);
    publish(following, 0, 19, before, step);
    long first = following.status().incarnation().life();
    engine.disconnect();
    engine.restart();
    engine.reconnect();
    awaitConnection(following, 2);
    publish(following, 0, 4, after, step);
    assertThat(following.status().incarnation().life()).isGreaterThan(first);
    assertThat(ids(following)).containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
  }

  @ParameterizedTest
  @ValueSource(doubles = {NOW - 10_000, NOW, 0, Double.NaN})
  void shouldBeginALife_whenANewConnectionBringsLowerNumbersAndTheReplayHasOthers(double after)
      throws Exception {
    Following following = follow();
    publish(following, 0, 19, NOW, 0);
    engine.disconnect();
    engine.restart();
    for (int i = 0; i < 30; i++) {
      engine.publishUnheard(i, FakeEngine.payloadAt(i + 100, after));
    }
    engine.reconnect();
    await().atMost(SOON).until(() -> isAcked(following, 29));
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
    assertThat(ids(following))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, 29).boxed().toList());
  }

  @Test
  void shouldKeepTheLife_whenANewConnectionBringsALowerNumberAndTheReplayShowsThatItIsTheSame()
      throws Exception {
    Following following = follow();
    publish(following, 0, 19, NOW, 0);
    engine.disconnect();
    engine.publishUnheard(20, FakeEngine.payloadAt(20, NOW - 5_000)); // set back meanwhile
    engine.reconnect();
    await().atMost(SOON).until(() -> isAcked(following, 20));
    engine.live(new byte[0], FakeEngine.sequence(3), FakeEngine.payloadAt(3, NOW + 1));
    publish(following, 21, 21, NOW - 5_000, 0);
    assertThat(following.status().counters()).doesNotContainKey("new_lives");
  }

  /**
   * @param before batches of the old engine: the first ones are not remembered beyond 1,024
   * @param after batches of the new one
   */
  @ParameterizedTest
  @CsvSource({"300, 10, 10000", "1500, 100, 10000", "1500, 100, 0", "300, 10, NaN"})
  void shouldBeginALife_whenNumbersBeginAnewBehindAProxyAndNoClockTells(
      int before, int after, double behind) throws Exception {
    Following following = follow(NO_REPLAY);
    publish(following, 0, before - 1, NOW, 0);
    engine.restart(); // connections stay
    for (int i = 0; i < after; i++) {
      engine.publish(i, FakeEngine.payloadAt(i + 5_000, NOW - behind));
    }
    await().atMost(SOON).until(() -> isAcked(following, after - 1));
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldBeginALife_whenOneBatchComesAgainBehindAProxyAndTheReplayHasAnother()
      throws Exception {
    Following following = follow();
    publish(following, 0, 99, NOW, 1);
    engine.restart();
    engine.publish(0, FakeEngine.payloadAt(7_000, NOW - 10_000));
    await().atMost(SOON).until(() -> isAcked(following, 0));
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
  }

  @Test
  void shouldKeepTheLife_whenTheClockJumpsOnAConnectionThatStays() throws Exception {
    Following following = follow();
    double[] jumps = {0, -7_200, 3_600, -1, Double.NaN, 1e15, 0};
    for (int i = 0; i < 210; i++) {
      byte[] payload = FakeEngine.payloadAt(i, NOW + i + jumps[i / 30]);
      engine.publish(i, payload);
      if (i % 7 == 0) {
        engine.live(new byte[0], FakeEngine.sequence(i), payload);
      }
    }
    await().atMost(SOON).until(() -> isAcked(following, 209));
    assertThat(following.status().counters())
        .doesNotContainKey("new_lives")
        .doesNotContainKey("quarantined");
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  /**
   * @param number of a batch that the former engine, or nobody, has sent
   */
  @ParameterizedTest
  @ValueSource(longs = {19, 1L << 40, -3})
  void shouldDropABatchBeyond_whenTheReplayEndsBeforeItAndNoClockTells(long number)
      throws Exception {
    Following following = follow();
    publish(following, 0, 19, NOW, 0.01);
    engine.restart();
    publish(following, 0, 4, NOW - 5_000, 0.01);
    engine.live(
        new byte[0], FakeEngine.sequence(number), FakeEngine.payloadAt(19, NOW + 1)); // delayed
    await()
        .atMost(SOON)
        .until(() -> following.status().counters().getOrDefault("former_life", 0L) == 1);
    publish(following, 5, 6, NOW - 4_999, 0.01);
    assertThat(ids(following)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
    assertThat(following.status().counters()).doesNotContainKey("lost");
  }

  @Test
  void shouldTakeWhatComesLive_whenAReplayNeverHasIt() throws Exception {
    Following following = follow();
    publish(following, 0, 9, NOW, 0.01);
    long[] next = {20};
    await()
        .atMost(SOON)
        .until(
            () -> {
              engine.live(
                  new byte[0],
                  FakeEngine.sequence(next[0]),
                  FakeEngine.payloadAt(next[0], NOW + next[0]));
              next[0]++;
              return following.status().state() == PublisherState.DEGRADED;
            });
    assertThat(ids(following)).hasSizeGreaterThan(10);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldMissNothing_whenNumbersBeginWithOne(boolean replays) throws Exception {
    Following following = replays ? follow() : follow(NO_REPLAY);
    publish(following, 1, 5, NOW, 1);
    engine.disconnect();
    engine.restart();
    engine.reconnect();
    awaitConnection(following, 2);
    publish(following, 1, 3, NOW + 100, 1);
    assertThat(ids(following)).containsExactly(1L, 2L, 3L);
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
  }

  @Test
  void shouldTakeTheBatchBefore_whenTheReplayHasNumberZero() throws Exception {
    Following following = follow();
    awaitConnection(following, 1);
    engine.publishUnheard(0, 0);
    engine.publish(1, 2);
    await().atMost(SOON).until(() -> isAcked(following, 2));
    assertThat(ids(following)).containsExactly(0L, 1L, 2L);
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldMissTheFirstBatches_whenNumbersBeginWithTwo(boolean replays) throws Exception {
    Following following = replays ? follow() : follow(NO_REPLAY);
    publish(following, 2, 5, NOW, 1);
    assertThat(sent().get(0).events()).contains(new KvEvent.Gap(0, 1));
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
  }

  /** Publishes once the engine is heard, and waits until all is acknowledged. */
  private void publish(Following following, long from, long to, double time, double step) {
    awaitConnection(following, 1);
    byte[] first = FakeEngine.payloadAt(from, time);
    engine.publishUnheard(from, first);
    await() // nothing tells when a subscription works
        .atMost(SOON)
        .until(
            () -> {
              engine.live(new byte[0], FakeEngine.sequence(from), first);
              return isAcked(following, from);
            });
    for (long i = from + 1; i <= to; i++) {
      engine.publish(i, FakeEngine.payloadAt(i, time + (i - from) * step));
    }
    await().atMost(SOON).until(() -> isAcked(following, to));
  }

  /** The connection, or the one after the first was lost. */
  private void awaitConnection(Following following, int number) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              WorkerStatus status = following.status();
              boolean second =
                  status.lastError() != null || status.counters().containsKey("new_lives");
              return status.connected() && (number == 1 || second);
            });
  }

  private boolean isAcked(Following following, long sequence) {
    while (producer.completeNext()) {}
    return Objects.equals(following.status().lastSequence(), sequence);
  }

  /** Numbers of the life followed now. */
  private List<Long> ids(Following following) {
    return sent().stream()
        .filter(record -> record.incarnation().equals(following.status().incarnation()))
        .filter(record -> !record.isOpening())
        .map(record -> record.position().eventId())
        .toList();
  }
}
