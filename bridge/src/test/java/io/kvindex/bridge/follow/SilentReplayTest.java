// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.progress.PublisherState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replay endpoints that do not answer: what that costs their own publisher, and the others. */
@Timeout(60)
class SilentReplayTest extends FollowerFixture {

  private static final Duration ANSWER = Duration.ofSeconds(3);
  private static final Duration RECOVERY = Duration.ofMillis(200);
  private static final Duration AT_ONCE = Duration.ofSeconds(1);

  /** JeroMQ leaves some connects without a handshake and tries again after 1 s. */
  private static final Duration WITH_A_CONNECT = Duration.ofMillis(2_500);

  private final FakeEngine silent = new FakeEngine(true);

  SilentReplayTest() {
    super(
        new ReplayPolicy(4, ANSWER, 1, 6, 1_000, Duration.ofMillis(20)),
        new FollowLimits(
            1_000,
            20_000,
            64L << 20,
            512 << 10,
            Duration.ofMillis(100),
            Duration.ofMinutes(1),
            RECOVERY,
            GapPolicy.KEEP,
            0));
    silent.silent(true);
  }

  @AfterEach
  void closeSilent() throws Exception {
    silent.close();
  }

  @Test
  void shouldRepairAHoleAtOnce_whenManyOtherReplaysAreSilent() throws Exception {
    int many = 40;
    List<Following> others = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      others.add(follow(life("silent-" + i, silent, null)));
    }
    engine.publish(0, 9);
    follow();
    await().atMost(SOON).until(() -> silent.asks() >= many);
    await().atMost(SOON).until(() -> isSent("e", 9));
    // By now each of them has fallen silent once, and is asked again and again.
    await().atMost(SOON).until(() -> silent.asks() >= 2 * many);
    engine.publishUnheard(10, 14);
    engine.publish(15, 15);
    await().atMost(WITH_A_CONNECT).until(() -> isSent("e", 15));
    assertThat(sentOf("e")).noneMatch(FollowerFixture::hasGap).hasSize(16);
    assertThat(others).hasSize(many);
  }

  @Test
  void shouldShowLiveBatchesAtOnce_whenItIsAskedOnlyBecauseItWasQuiet() throws Exception {
    Following following = follow(life("e", silent, null));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.ACTIVE);
    // The first question may have come twice, over a second connection.
    int first = silent.asks();
    await().atMost(SOON).until(() -> silent.asks() > first);
    silent.publish(0, 0);
    await().atMost(AT_ONCE).until(() -> isSent("e", 0));
    // It said that nothing is missing: nobody asks any more.
    silent.publish(1, 5);
    await().atMost(AT_ONCE).until(() -> isSent("e", 5));
    assertThat(silent.asks()).isEqualTo(first + 1);
    assertThat(sentOf("e")).noneMatch(FollowerFixture::hasGap);
  }

  @Test
  void shouldLoseNothing_whenAnEngineJustFollowedIsSilentAtFirst() throws Exception {
    silent.publishUnheard(0, 4);
    Following following = follow(life("e", silent, null));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.ACTIVE);
    silent.publish(5, 5);
    int asked = silent.asks();
    await().atMost(SOON).until(() -> silent.asks() > asked);
    silent.silent(false);
    await().atMost(SOON).until(() -> isSent("e", 5));
    assertThat(sentOf("e")).noneMatch(FollowerFixture::hasGap).hasSize(6);
  }

  @Test
  void shouldAskLessAndLessOften_whenNothingIsMissing() throws Exception {
    follow(life("e", silent, null));
    await().atMost(SOON).until(() -> silent.asks() >= 1);
    // Questions of 3 s with pauses of 0.2, 0.4, 0.8 s; the first may have come twice.
    long begun = System.nanoTime();
    await().atMost(Duration.ofSeconds(40)).until(() -> silent.asks() >= 5);
    assertThat(Duration.ofNanos(System.nanoTime() - begun))
        .isGreaterThan(ANSWER.multipliedBy(3).plusMillis(1_200));
  }

  @Test
  void shouldEndTheLife_whenAYoungEngineIsReconnectedAndNoReplayTells() throws Exception {
    Following following = follow(life("e", engine, 41L));
    awaitLive(engine, 42);
    assertThat(sentOf("e").get(0).isOpening()).isTrue();
    assertThat(following.status().incarnation().life()).isGreaterThan(7);
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldGoOn_whenAnOldEngineIsReconnectedAndNoReplayTells() throws Exception {
    Following following = follow(life("e", engine, Reception.YOUNG - 1));
    awaitLive(engine, Reception.YOUNG);
    EventRecord first = sentOf("e").get(0);
    assertThat(first.position().eventId()).isEqualTo(Reception.YOUNG);
    assertThat(first.after()).isEqualTo(Reception.YOUNG - 1);
    assertThat(following.status().incarnation().life()).isEqualTo(7);
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
  }

  /** Sends a batch until it was heard, as nothing tells when a subscription works. */
  private void awaitLive(FakeEngine from, long sequence) {
    from.publishUnheard(sequence, sequence);
    await()
        .atMost(SOON)
        .until(
            () -> {
              from.live(new byte[0], FakeEngine.sequence(sequence), from.published(sequence));
              return isSent("e", sequence);
            });
  }

  /** A life of which Kafka has that much; what goes on in the middle has no replay endpoint. */
  private static Life life(String instance, FakeEngine from, @Nullable Long acked) {
    String replay = acked == null ? from.replayEndpoint() : null;
    return new Life(
        Site.engine(instance, from.endpoint(), replay),
        new Incarnation(3, 7, 0),
        acked == null ? null : new SendSession.Acked(acked, 0, 0, 0),
        false,
        false);
  }
}
