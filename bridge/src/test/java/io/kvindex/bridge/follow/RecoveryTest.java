// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.progress.PublisherState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What was given up as lost, and can be had after all, or not. */
@Timeout(60)
class RecoveryTest extends FollowerFixture {

  /** Longer than JeroMQ needs to notice a connection it left without a handshake. */
  private static final Duration ANSWER = Duration.ofSeconds(2);

  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration A_WHILE = Duration.ofSeconds(2);

  RecoveryTest() {
    super(
        new ReplayPolicy(4, ANSWER, 1, 3, 1_000, Duration.ofMillis(10)),
        new FollowLimits(
            1_000,
            20_000,
            64L << 20,
            512 << 10,
            Duration.ofMillis(20),
            Duration.ofMinutes(1),
            PAUSE,
            GapPolicy.KEEP,
            0));
  }

  @Test
  void shouldHaveEverythingFromItsStart_whenASilentReplayAnswersAgain() throws Exception {
    Following following = loseBatches();
    assertThat(following.status().counters()).doesNotContainKey("new_lives");
    engine.silent(false);
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.REPLAYING);
    assertThat(following.progress().retellsUntil()).isEqualTo(15);
    awaitActive(following, 0);
    assertThat(following.progress().retellsUntil()).isNull();
    engine.publish(16, 16);
    await().atMost(SOON).until(() -> isSent("e", 16));
    List<EventRecord> rebuilt = ofLife(following.status().incarnation());
    assertThat(rebuilt.get(0).isOpening()).isTrue();
    assertThat(rebuilt.stream().filter(r -> !r.isOpening()).map(r -> r.position().eventId()))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, 16).boxed().toList());
    assertThat(rebuilt).noneMatch(FollowerFixture::hasGap);
    assertThat(rebuilt.get(0).opensRetelling()).isTrue();
    assertThat(rebuilt.stream().filter(EventRecord::endsRetelling).map(r -> r.position().eventId()))
        .containsExactly(15L);
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
  }

  @Test
  void shouldTellNothing_beforeKafkaHasTheOpening() throws Exception {
    Following following = loseBatches();
    engine.silent(false);
    await().atMost(SOON).until(() -> opening() != null);
    Incarnation life = Objects.requireNonNull(opening());
    await().during(PAUSE.multipliedBy(5)).atMost(SOON).until(() -> ofLife(life).size() == 1);
    assertThat(producer.errorNext(new TimeoutException("no leader"))).isTrue();
    await().atMost(SOON).until(() -> ofLife(life).size() == 2);
    awaitActive(following, 0);
    assertThat(ofLife(life)).extracting(EventRecord::isOpening).startsWith(true, true, false);
    assertThat(ofLife(life).get(1).opensRetelling()).isTrue();
  }

  /** A claim is an offset: the end of its topic may have been lost with a machine. */
  @Test
  void shouldClaimUntilTheLifeIsANewerOne() throws Exception {
    lives = 5;
    Following following = loseBatches();
    engine.silent(false);
    awaitActive(following, 0);
    assertThat(following.status().incarnation().life()).isEqualTo(8);
    assertThat(sentOf("e")).extracting(r -> r.incarnation().life()).containsOnly(7L, 8L);
  }

  /** The life that was opened to tell all again, null = not yet. */
  private @Nullable Incarnation opening() {
    return sentOf("e").stream()
        .filter(EventRecord::opensRetelling)
        .map(EventRecord::incarnation)
        .findFirst()
        .orElse(null);
  }

  @Test
  void shouldStayDegraded_whenTheReplayBeginsLater() throws Exception {
    Following following = loseBatches();
    engine.forgetBefore(5);
    int before = engine.asks();
    engine.silent(false);
    await().atMost(SOON).until(() -> engine.asks() >= before + 2);
    // Whoever comes too late once does so for ever: nobody asks again.
    await().pollDelay(PAUSE.multipliedBy(2)).until(() -> true);
    int asked = engine.asks();
    await()
        .during(A_WHILE)
        .atMost(SOON)
        .until(() -> following.status().state() == PublisherState.DEGRADED);
    assertThat(engine.asks()).isEqualTo(asked);
    assertThat(following.status().incarnation().life()).isEqualTo(7);
  }

  @Test
  void shouldNotAskForItAgain_whenABatchCanNotBeRead() throws Exception {
    engine.publish(0, 4);
    engine.publish(5, new byte[] {(byte) 0xc1});
    Following following = follow();
    await().atMost(SOON).until(() -> isSent("e", 5));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.DEGRADED);
    await()
        .during(A_WHILE)
        .atMost(SOON)
        .until(() -> following.status().state() == PublisherState.DEGRADED);
    assertThat(following.status().incarnation().life()).isEqualTo(7);
  }

  @Test
  void shouldLeaveTheLifeAlone_whileTheReplayLacksSomething() throws Exception {
    engine.publish(0, 9);
    engine.losing((ask, sequence) -> sequence == 5);
    Following following = follow();
    await().atMost(SOON).until(() -> isSent("e", 9));
    int asked = engine.asks();
    await().pollDelay(A_WHILE).atMost(SOON).until(() -> engine.asks() > asked + 1);
    assertThat(following.status().counters()).doesNotContainKey("new_lives");
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
    engine.losing((ask, sequence) -> false);
    awaitActive(following, 0);
    assertThat(following.status().counters()).containsEntry("new_lives", 1L);
  }

  @Test
  void shouldStayDegraded_whenTheSecondReplayLacksSomething() throws Exception {
    engine.publish(0, 9);
    engine.losing((ask, sequence) -> sequence == 5);
    Following following = follow();
    await().atMost(SOON).until(() -> isSent("e", 9));
    // Whole as long as it is only looked at.
    engine.losing((ask, sequence) -> sequence == 5 && following.status().incarnation().life() != 7);
    await().atMost(SOON).until(() -> following.status().incarnation().life() != 7);
    Incarnation life = following.status().incarnation();
    await()
        .atMost(SOON)
        .until(() -> isSent("e", 9) && ofLife(life).stream().anyMatch(FollowerFixture::hasGap));
    await().atMost(SOON).until(() -> ofLife(life).stream().anyMatch(EventRecord::endsRetelling));
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
  }

  @Test
  void shouldGoOnTellingAgain_whenItTakesOverFromAnotherBridge() throws Exception {
    engine.publish(0, 4);
    Following first = follow();
    await()
        .atMost(SOON)
        .until(() -> isSent("e", 4) && Objects.equals(first.progress().lastSequence(), 4L));
    first.stop();
    await().atMost(SOON).until(first::isSettled);
    engine.publish(5, 9);
    Following next =
        follow(
            new Life(
                Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
                first.status().incarnation(),
                new SendSession.Acked(4, first.progress().lastTimeMicros(), 0, 0),
                -1,
                false,
                8L,
                false,
                Map.of(),
                List.of()));
    assertThat(next.progress().retellsUntil()).isEqualTo(8);
    awaitActive(next, 9);
    assertThat(sentOf("e").stream().filter(EventRecord::endsRetelling))
        .extracting(record -> record.position().eventId())
        .containsExactly(8L);
  }

  /** Kafka has all of it. */
  private void awaitActive(Following following, long sent) {
    await()
        .atMost(SOON)
        .until(() -> isSent("e", sent) && following.status().state() == PublisherState.ACTIVE);
  }

  /** Follows an engine whose replay falls silent when it is needed. */
  private Following loseBatches() throws Exception {
    engine.publish(0, 9);
    Following following = follow();
    await().atMost(SOON).until(() -> isSent("e", 9));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.ACTIVE);
    engine.silent(true);
    engine.publishUnheard(10, 14);
    engine.publish(15, 15);
    await().atMost(SOON).until(() -> isSent("e", 15));
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
    return following;
  }

  private List<EventRecord> ofLife(Incarnation incarnation) {
    return sentOf("e").stream().filter(r -> r.incarnation().equals(incarnation)).toList();
  }
}
