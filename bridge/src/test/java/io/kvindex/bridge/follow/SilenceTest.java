// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an engine sent last may be dropped on its way, and nothing more comes to tell. */
@Timeout(60)
class SilenceTest extends FollowerFixture {

  private static final Duration SILENCE = Duration.ofMillis(300);

  SilenceTest() {
    super(
        ReplayPolicy.DEFAULT,
        new FollowLimits(
            1_000,
            20_000,
            64L << 20,
            512 << 10,
            Duration.ofSeconds(1),
            SILENCE,
            Duration.ofMinutes(1),
            GapPolicy.KEEP,
            0));
  }

  /** Past the questions that come with a connection. */
  private Following connected() throws InterruptedException {
    engine.publish(0, 4);
    Following following = follow();
    await().atMost(SOON).until(() -> isSent("e", 4));
    engine.publish(5, 9);
    await().atMost(SOON).until(() -> isSent("e", 9));
    restsAfterItsQuestions();
    return following;
  }

  private void restsAfterItsQuestions() {
    int[] asks = {engine.asks()};
    await()
        .atMost(SOON)
        .pollInterval(SILENCE.multipliedBy(4))
        .until(
            () -> {
              int before = asks[0];
              asks[0] = engine.asks();
              return before == asks[0];
            });
  }

  @Test
  void shouldHaveWhatWasDropped_whenNothingMoreComes() throws Exception {
    connected();
    engine.publish(10, 10);
    await().atMost(SOON).until(() -> isSent("e", 10));
    engine.publishUnheard(11, 14);
    await().atMost(SOON).until(() -> isSent("e", 14));
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  @Test
  void shouldNameWhatIsLost_whenTheReplayHasOnlyTheEnd() throws Exception {
    Following following = connected();
    engine.publish(10, 10);
    await().atMost(SOON).until(() -> isSent("e", 10));
    engine.publishUnheard(11, 40);
    engine.forgetBefore(31);
    await().atMost(SOON).until(() -> isSent("e", 40));
    List<EventRecord> holes = sent().stream().filter(FollowerFixture::hasGap).toList();
    assertThat(holes).hasSize(1);
    assertThat(holes.get(0).events()).contains(new KvEvent.Gap(11, 30));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.DEGRADED);
  }

  @Test
  void shouldFollowTheEngineThatIsThere_whenItWasStartedAgainAndNobodyToldOfIt() throws Exception {
    Following following = connected();
    engine.publish(10, 10);
    await().atMost(SOON).until(() -> isSent("e", 10));
    engine.restart();
    engine.publishUnheard(0, 2);
    await().atMost(SOON).until(() -> following.status().incarnation().life() > 7);
    await().atMost(SOON).untilAsserted(() -> assertThat(isSent("e", 2)).isTrue());
  }

  @Test
  void shouldAskOnce_howeverLongTheSilenceIs() throws Exception {
    Following following = connected();
    long asks = asks(following);
    engine.publish(10, 10);
    // A young engine is asked about the batch as well.
    await().atMost(SOON).until(() -> asks(following) == asks + 2);
    await().during(SILENCE.multipliedBy(5)).atMost(SOON).until(() -> asks(following) == asks + 2);
    engine.live(new byte[0], FakeEngine.sequence(10), engine.published(10));
    await().during(SILENCE.multipliedBy(3)).atMost(SOON).until(() -> asks(following) == asks + 2);
  }

  /** What the engine counts may be more: it is asked twice where a connection is slow to come. */
  private static long asks(Following following) {
    return Accounts.of(following.status().counters(), "replays");
  }
}
