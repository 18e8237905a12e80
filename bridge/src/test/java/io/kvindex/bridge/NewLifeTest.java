// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Clock;
import io.kvindex.model.progress.PublisherState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that are restarted under the same name and ports, and batches that only look like it. */
class NewLifeTest extends LivesFixture {

  @Test
  void shouldBeginALife_whenNumbersComeAgainLater() {
    engine.restart();
    engine.publish(0, 2);
    awaitLife(2, 2);
    assertThat(ids(1)).containsExactly(0L, 1L, 2L);
    assertThat(lives().get(1).get(0).isOpening()).isTrue();
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    await().atMost(SOON).until(() -> lastSequence(bridge) == 2);
    assertThat(worker(bridge).incarnation()).isEqualTo(lives().get(1).get(0).incarnation());
    assertSumRule(bridge);
  }

  @Test
  void shouldEndTheLife_whenTheReplayIsEmptyAfterAReconnect() {
    engine.disconnect();
    engine.restart();
    engine.reconnect();
    await().atMost(SOON).until(() -> lives().size() == 2);
    assertThat(lives().get(1).get(0).isOpening()).isTrue();
    engine.publish(0, 4);
    awaitLife(2, 4);
    assertThat(ids(1)).containsExactly(0L, 1L, 2L, 3L, 4L);
  }

  @Test
  void shouldBeginALife_whenTheReplayHasOtherBatchesOfThoseNumbers() {
    engine.disconnect();
    engine.restart();
    engine.publishUnheard(0, 20);
    engine.reconnect();
    awaitLife(2, 20);
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, 20).boxed().toList());
    assertThat(worker(bridge).state()).isNotEqualTo(PublisherState.DEGRADED);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, Integer.MAX_VALUE})
  void shouldBeginALife_whenItIsHeardLateAndAnswersLackTheBatchThatWouldTell(int answers) {
    engine.restart();
    long asked = engine.asks();
    engine.losing((ask, sequence) -> sequence == 9 && ask - asked <= answers);
    engine.publishUnheard(0, 12);
    engine.publish(13, 13);
    await().atMost(SOON).until(() -> lives().size() == 2);
    engine.losing((ask, sequence) -> false);
    awaitLife(2, 13);
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, 13).boxed().toList());
    assertThat(worker(bridge).state()).isNotEqualTo(PublisherState.DEGRADED);
  }

  @ParameterizedTest
  @ValueSource(longs = {10, 40, 900})
  void shouldBeginALife_whenItIsHeardFromJustTheNumberToCome(long next) {
    engine.publish(10, next - 1);
    awaitIds(next - 1);
    engine.restart();
    engine.publishUnheard(0, next - 1);
    byte[] heard = FakeEngine.payload(next);
    ByteBuffer.wrap(heard).putDouble(2, Clock.micros() / 1e6 + 1);
    engine.publish(next, heard);
    awaitLife(2, next);
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, next).boxed().toList());
    assertThat(worker(bridge).state()).isNotEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldBeginALifeLater_whenItIsHeardFromJustTheNumberToComeWhileNoReplayAnswered() {
    engine.silent(true);
    engine.publish(10, 10);
    awaitIds(10);
    engine.restart();
    engine.silent(false);
    engine.publishUnheard(0, 10);
    long[] next = {11};
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              engine.publish(next[0], next[0]);
              next[0]++;
              return lives().size() == 2;
            });
    engine.publish(next[0], next[0]);
    awaitLife(2, next[0]);
    assertThat(ids(1))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, next[0]).boxed().toList());
  }

  @Test
  void shouldFollow_whenTheNewEngineKeepsNothingForReplays() {
    engine.restart();
    engine.losing((ask, sequence) -> true);
    engine.publish(0, 30);
    awaitLife(2, 30);
    engine.publish(31, 40);
    awaitLife(2, 40);
    assertThat(worker(bridge).state()).isEqualTo(PublisherState.ACTIVE);
    assertSumRule(bridge);
  }

  @Test
  void shouldAskNothing_whenBatchesComeWithoutPause() {
    engine.publish(10, 99);
    awaitIds(99);
    int asked = engine.asks();
    engine.publish(100, 500);
    awaitIds(500);
    assertThat(engine.asks()).isLessThan(asked + 4);
  }

  @Test
  void shouldKeepTheLifeDegraded_whenItsEngineKeepsLessThanWasMissed() {
    engine.disconnect();
    engine.publishUnheard(10, 60);
    engine.forgetBefore(30);
    engine.reconnect();
    awaitLife(1, 60);
    assertThat(ids(0).subList(10, ids(0).size()))
        .containsExactlyElementsOf(LongStream.rangeClosed(30, 60).boxed().toList());
    awaitState(bridge, PublisherState.DEGRADED);
    assertThat(worker(bridge).lastError()).isEqualTo("batches 10..29 are lost: no replay has them");
    assertThat(counter(worker(bridge), "batches_lost")).isEqualTo(20);
  }

  @Test
  void shouldMissNothing_whenItsEngineKeepsJustWhatWasMissed() {
    engine.disconnect();
    engine.publishUnheard(10, 60);
    engine.forgetBefore(10);
    engine.reconnect();
    awaitLife(1, 60);
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertThat(worker(bridge).state()).isNotEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldBeginALife_whenAReplayBeginsBehindTheLastBatchWithAnEarlierTime() {
    engine.disconnect();
    engine.restart();
    for (int i = 0; i < 40; i++) {
      engine.publishUnheard(i, FakeEngine.payloadAt(i, 1_600_000_000 + i));
    }
    engine.forgetBefore(30);
    engine.reconnect();
    awaitLife(2, 39);
  }

  @Test
  void shouldGoOn_whenTheReplayShowsTheSameLifeAfterAReconnect() {
    engine.disconnect();
    engine.publishUnheard(10, 60);
    engine.reconnect();
    awaitIds(60);
    assertThat(lives()).hasSize(1);
  }

  @Test
  void shouldDropBatchesOfTheFormerLife_whenTheyComeLate() {
    byte[][] late = new byte[20][];
    for (int i = 10; i < 20; i++) {
      engine.publishUnheard(i, i);
      late[i] = engine.published(i);
    }
    engine.restart();
    engine.publish(0, 5);
    for (int i = 10; i < 20; i++) {
      engine.live(new byte[0], FakeEngine.sequence(i), late[i]);
    }
    engine.publish(6, 8);
    awaitLife(2, 8);
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, 8).boxed().toList());
    await().atMost(SOON).until(() -> counter(worker(bridge), "duplicate_or_late") >= 10);
    assertThat(lives()).hasSize(2);
    assertThat(lives().get(1)).noneMatch(BridgeFixture::hasGap);
  }

  @Test
  void shouldAskForAHole_whenABatchOfTheFormerLifeComesBeforeIt() {
    byte[] late = engine.published(3);
    engine.restart();
    engine.publish(0, 5);
    awaitLife(2, 5);
    for (int round = 0; round < 6; round++) {
      long next = 6 + round * 10L;
      engine.publishUnheard(next, next + 8);
      byte[] heard = FakeEngine.payload(next + 9);
      engine.publishUnheard(next + 9, heard);
      engine.live(new byte[0], FakeEngine.sequence(3), late);
      engine.live(new byte[0], FakeEngine.sequence(next + 9), heard);
      awaitLife(2, next + 9);
    }
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertThat(worker(bridge).counters()).containsEntry("new_lives", 1L);
  }

  @Test
  void shouldSeeNoNewLife_whenFramesAreDuplicatedAndReordered() {
    Random random = new Random(5);
    for (int batch = 10; batch < 2_010; batch++) {
      engine.publishUnheard(batch, batch);
    }
    for (int i = 0; i < 10_000; i++) {
      int around = i / 5 + random.nextInt(40) - 20;
      int sequence = Math.max(0, Math.min(2_009, around));
      engine.live(new byte[0], FakeEngine.sequence(sequence), engine.published(sequence));
    }
    engine.publish(2_010, 2_010);
    awaitIds(2_010);
    assertThat(lives()).hasSize(1);
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertSumRule(bridge);
  }

  @Test
  void shouldSeeEveryRestart_whenThereAreAHundred() {
    for (int restart = 0; restart < 100; restart++) {
      long before = worker(bridge).incarnation().life();
      engine.restart();
      engine.publish(0, 2);
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(2))
          .until(() -> worker(bridge).incarnation().life() > before && lastSequence(bridge) == 2);
    }
    assertThat(lives()).hasSize(101);
    assertThat(worker(bridge).counters().get("new_lives")).isEqualTo(100);
  }

  @Test
  void shouldAskAgain_whenTheReplayIsSilentForAWhile() {
    engine.silent(true);
    int asked = engine.asks();
    engine.publishUnheard(10, 11);
    engine.publish(12, 12);
    await().atMost(SOON).until(() -> engine.asks() >= asked + QUICK.attempts() + 1);
    engine.publish(13, 13);
    engine.silent(false);
    awaitIds(13);
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertThat(worker(bridge).state()).isEqualTo(PublisherState.ACTIVE);
    assertSumRule(bridge);
  }

  @Test
  void shouldDropALateBatch_whenItsEngineWasReplacedAndRegisteredAnew() throws Exception {
    byte[] late = engine.published(9);
    site.unregister(worker(bridge).registration().publisher());
    await().atMost(SOON).until(() -> bridge.workers().isEmpty());
    engine.restart();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    awaitState(bridge, PublisherState.ACTIVE);
    engine.live(new byte[0], FakeEngine.sequence(9), late);
    await()
        .atMost(SOON)
        .until(() -> counter(worker(bridge), FrameOutcome.FORMER_LIFE.label()) == 1);
    engine.publish(0, 1);
    await().atMost(SOON).until(() -> lastSequence(bridge) == 1);
    assertThat(worker(bridge).state()).isEqualTo(PublisherState.ACTIVE);
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertSumRule(bridge);
  }

  @Test
  void shouldFollowInTheEnd_whenAnEngineKeepsNothingForReplays() throws Exception {
    FakeEngine forgetful = engine(true);
    String other = name + "-forgetful";
    register(Site.engine(other, forgetful.endpoint(), forgetful.replayEndpoint()));
    await().atMost(SOON).until(() -> bridge.workers().size() == 2);
    await()
        .atMost(SOON)
        .until(() -> bridge.workers().stream().allMatch(w -> w.state() == PublisherState.ACTIVE));
    long[] next = {100};
    await()
        .atMost(SOON)
        .until(
            () -> {
              forgetful.live(
                  new byte[0], FakeEngine.sequence(next[0]), FakeEngine.payload(next[0]));
              next[0]++;
              return !site.events(other).isEmpty();
            });
    assertThat(next[0]).isGreaterThan(110);
    assertThat(site.events(other).get(0)).matches(BridgeFixture::hasGap);
  }

  @Test
  void shouldTakeTheReplaysBatch_whenTheLiveOneIsCutShort() {
    engine.publishUnheard(10, 10);
    byte[] whole = engine.published(10);
    engine.live(new byte[0], FakeEngine.sequence(10), Arrays.copyOf(whole, whole.length / 2));
    engine.publish(11, 12);
    awaitIds(12);
    assertThat(site.events(name)).noneMatch(BridgeFixture::hasGap);
    assertThat(quarantined()).isEmpty();
    assertThat(lives()).hasSize(1);
    assertSumRule(bridge);
  }
}
