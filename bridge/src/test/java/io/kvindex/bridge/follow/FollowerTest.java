// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Chain;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** A follower on real sockets with a producer whose every answer the test gives. */
@Timeout(60)
class FollowerTest extends FollowerFixture {

  @Test
  void shouldSendAgainFromTheLastAcknowledged_whenASendFails() throws Exception {
    engine.publish(0, 9);
    Following following = follow();
    await().atMost(SOON).until(() -> producer.history().size() == 10);
    for (int i = 0; i < 4; i++) {
      producer.completeNext();
    }
    producer.errorNext(new TimeoutException("no broker"));
    // Those behind it are acknowledged all the same, as a broker may do.
    while (producer.completeNext()) {}
    assertThat(following.progress().lastSequence()).isEqualTo(3);
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {}
              return Long.valueOf(9).equals(following.progress().lastSequence());
            });
    List<EventRecord> sent = sent();
    assertThat(sent.subList(10, sent.size()))
        .extracting(r -> r.position().eventId())
        .containsExactly(4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(sent.get(10).after()).isEqualTo(3);
    assertThat(sent).noneMatch(r -> r.events().stream().anyMatch(KvEvent.Gap.class::isInstance));
  }

  /** They are two causes: neither keeps the other out of the log. */
  @Test
  void shouldLogThatKafkaRefused_whenItHasJustLoggedThatBatchesAreLost() throws Exception {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    Logger log = (Logger) LoggerFactory.getLogger(Intake.class);
    log.addAppender(lines);
    try {
      Following following = follow((String) null);
      awaitConnected(following);
      engine.publish(0, 0);
      await().atMost(SOON).until(() -> isSent("e", 0));
      engine.publishUnheard(1, 1);
      engine.publish(2, 2);
      await().atMost(SOON).until(() -> sentOf("e").size() == 2);
      producer.errorNext(new TimeoutException("no broker"));
      await().atMost(SOON).until(() -> following.status().counters().containsKey("sends_failed"));
    } finally {
      log.detachAppender(lines);
    }
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .anyMatch(line -> line.contains("lost batches=1..1"))
        .anyMatch(line -> line.contains("goes back to"));
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 40, -1L << 40})
  void shouldGoOn_whenTheNumberAndTimeOfOneBatchAreDamaged(long number) throws Exception {
    Following following = follow((String) null);
    awaitConnected(following);
    engine.publish(0, 9);
    await().atMost(SOON).until(() -> isSent("e", 9));
    engine.live(new byte[0], FakeEngine.sequence(number), damaged());
    await().atMost(SOON).until(() -> isSent("e", number));
    // All that follows is older than that batch.
    engine.publish(10, 199);
    await().atMost(SOON).until(() -> isSent("e", 199));
    assertThat(following.status().incarnation().life()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 40, -1L << 40})
  void shouldDropABatch_whenItsNumberAndTimeAreDamagedAndTheReplayDoesNotHaveIt(long number)
      throws Exception {
    Following following = follow();
    engine.publish(0, 9);
    await().atMost(SOON).until(() -> isSent("e", 9));
    engine.live(new byte[0], FakeEngine.sequence(number), damaged());
    engine.publish(10, 19);
    await().atMost(SOON).until(() -> isSent("e", 19));
    // A replay may bring 19 before it is decided what becomes of the damaged one.
    await().atMost(SOON).until(() -> following.status().counters().containsKey("former_life"));
    assertThat(following.status().counters())
        .containsEntry("former_life", 1L)
        .doesNotContainKey("new_lives");
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  private static byte[] damaged() {
    byte[] damaged = FakeEngine.payload(10);
    ByteBuffer.wrap(damaged).putDouble(2, 4e9); // in the year 2096
    return damaged;
  }

  private static void awaitConnected(Following following) {
    await()
        .atMost(SOON)
        .until(() -> Objects.requireNonNull(following.progress().connection()).up());
  }

  /** Hundreds may be in queues on the way from an engine that is gone. */
  @Test
  void shouldDropAllBatchesOfTheEngineBefore_whileTheReplayTellsWhatIsNew() throws Exception {
    Following following = follow();
    engine.publish(0, 9);
    await().atMost(SOON).until(() -> isSent("e", 9));
    for (int i = 0; i < 40; i++) {
      long dropped = i + 1;
      engine.publishUnheard(10 + i, 10 + i);
      engine.live(new byte[0], FakeEngine.sequence(1_000 + i), FakeEngine.payload(i));
      await()
          .atMost(SOON)
          .until(
              () ->
                  isSent("e", 9 + dropped)
                      && following.status().counters().getOrDefault("former_life", 0L) == dropped);
    }
    engine.publish(50, 50);
    await().atMost(SOON).until(() -> isSent("e", 50));
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
    assertThat(following.status().counters()).doesNotContainKeys("new_lives", "gaps_lost");
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  @Test
  void shouldEndOneLifeOnly_whenABatchThatTheEngineDoesNotHaveSeemsToBeALaterOne()
      throws Exception {
    Following following = follow();
    engine.publish(0, 9);
    await().atMost(SOON).until(() -> isSent("e", 9));
    byte[] strange = FakeEngine.payload(5);
    ByteBuffer.wrap(strange).putDouble(2, 4e9); // in the year 2096
    engine.live(new byte[0], FakeEngine.sequence(5), strange);
    engine.publish(10, 19);
    await().atMost(SOON).until(() -> isSent("e", 19));
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.ACTIVE);
    await().atMost(SOON).until(() -> following.status().counters().containsKey("former_life"));
    assertThat(following.status().counters())
        .containsEntry("new_lives", 1L)
        .containsEntry("former_life", 1L);
    assertThat(sent()).noneMatch(FollowerFixture::hasGap);
  }

  @Test
  void shouldStopReading_whenTheProducerIsBehind() throws Exception {
    engine.publish(0, 4_999);
    Following following = follow();
    await().atMost(SOON).until(() -> budget.inFlightBytes() >= BUDGET);
    engine.publish(5_000, 5_099);
    assertThat(budget.inFlightBytes()).isLessThan(BUDGET + 1_024);
    assertThat(following.progress().lastSequence()).isNull();
    assertThat(following.status().oldestUnackedMicros()).isPositive();
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {
                assertThat(budget.inFlightBytes()).isLessThan(BUDGET + 1_024);
              }
              return Long.valueOf(5_099).equals(following.progress().lastSequence());
            });
    assertThat(Chain.ids(sent()))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, 5_099).boxed().toList());
    assertThat(following.status().oldestUnackedMicros()).isZero();
  }

  @Test
  void shouldGoOnBehindAKnownSequence_whenALifeGoesOn() throws Exception {
    engine.publish(0, 9);
    follow(
        new Life(
            Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
            new Incarnation(3, 7, 0),
            new SendSession.Acked(5, timeOf(5), 0, 0),
            false,
            false));
    await().atMost(SOON).until(() -> producer.history().size() == 4);
    assertThat(sent().get(0).after()).isEqualTo(5);
    assertThat(sent()).extracting(EventRecord::incarnation).containsOnly(new Incarnation(3, 7, 0));
  }

  @Test
  void shouldSayThatItCanNotKnow_whenARemovalCanNotBeRead() throws Exception {
    engine.publish(0, 4);
    Following following = follow();
    await().atMost(SOON).until(() -> sent().size() == 5);
    List<Object> unreadable = List.of("BlockRemoved", "no list");
    engine.publish(5, Pack.bytes(List.of(1_760_000_005.0, List.of(unreadable), 0)));
    await().atMost(SOON).until(() -> sent().size() == 6);
    assertThat(sent().get(5).events()).containsExactly(new KvEvent.Gap(5, 5));
    assertThat(following.status().state()).isEqualTo(PublisherState.DEGRADED);
    assertThat(following.status().counters()).containsEntry("skipped_malformed", 1L);
  }

  @Test
  void shouldStayMismatched_whenOffloadingTellsNoSize() throws Exception {
    engine.publish(0, Pack.bytes(List.of(1.0, List.of(stored("GPU", 8, List.of(1, 2))), 0)));
    engine.publish(1, Pack.bytes(List.of(2.0, List.of(stored("CPU", 0, List.of())), 0)));
    Following following = follow();
    await().atMost(SOON).until(() -> sent().size() == 2);
    assertThat(sent().get(1).events()).hasSize(1);
    assertThat(following.status().state()).isEqualTo(PublisherState.MISMATCHED);
    assertThat(following.status().lastError())
        .contains("events have block_size 8, registered is 4");
    engine.publish(2, 2);
    await().atMost(SOON).until(() -> following.status().state() == PublisherState.ACTIVE);
  }

  private static List<@Nullable Object> stored(String medium, int blockSize, List<Integer> tokens) {
    return Arrays.asList("BlockStored", List.of(7L), null, tokens, blockSize, null, medium);
  }

  private long timeOf(long sequence) {
    Registration registration = Site.engine("e", engine.endpoint(), engine.replayEndpoint());
    return new PayloadDecoder(registration, new Learned())
        .decode(engine.published(sequence))
        .timestampMicros();
  }
}
