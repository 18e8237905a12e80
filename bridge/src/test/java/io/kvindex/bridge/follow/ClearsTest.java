// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.Pack;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Clock;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.progress.BridgeProgress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How often an engine cleared its cache in its life, as progress tells it. */
@Timeout(60)
class ClearsTest extends FollowerFixture {

  private static final List<String> CLEAR = List.of("AllBlocksCleared");

  @Test
  void shouldCountEachClear_whenKafkaHasIt() throws Exception {
    engine.publish(0, 0);
    engine.publish(1, batch(CLEAR));
    engine.publish(2, batch(CLEAR, CLEAR));
    Following following = follow();
    await().atMost(SOON).until(() -> producer.history().size() == 3);
    assertThat(following.progress().clears()).isZero();
    producer.completeNext();
    producer.completeNext();
    assertThat(following.progress())
        .extracting(BridgeProgress::lastSequence, BridgeProgress::clears)
        .containsExactly(1L, 1L);
    producer.completeNext();
    assertThat(following.progress().clears()).isEqualTo(3);
    assertThat(following.status().clears()).isEqualTo(3);
  }

  @Test
  void shouldCountItOnce_whenItsBatchIsSentAgain() throws Exception {
    engine.publish(0, batch(CLEAR));
    engine.publish(1, batch(CLEAR));
    engine.publish(2, 2);
    Following following = follow();
    await().atMost(SOON).until(() -> producer.history().size() == 3);
    producer.completeNext();
    producer.errorNext(new TimeoutException("no broker"));
    while (producer.completeNext()) {}
    assertThat(following.progress().clears()).isEqualTo(1);
    awaitSequence(following, 2);
    assertThat(sentOf("e")).hasSize(5);
    assertThat(following.progress().clears()).isEqualTo(2);
  }

  @Test
  void shouldCountFromNothing_whenALifeBegins() throws Exception {
    engine.publish(0, batch(CLEAR));
    Following following = follow();
    awaitSequence(following, 0);
    long life = following.status().incarnation().life();
    assertThat(following.progress().clears()).isEqualTo(1);
    engine.restart();
    engine.publish(0, 0);
    await().atMost(SOON).until(() -> following.status().incarnation().life() > life);
    awaitSequence(following, 0);
    assertThat(following.progress().clears()).isZero();
    engine.publish(1, batch(CLEAR));
    awaitSequence(following, 1);
    assertThat(following.progress().clears()).isEqualTo(1);
    // They are counted, and name nothing: records of one life are equal in that.
    assertThat(sentOf("e"))
        .extracting(EventRecord::incarnation)
        .extracting(Incarnation::clears)
        .containsOnly(0L);
  }

  /** An engine that was restarted meanwhile never comes to the batch that was to be the last. */
  @Test
  void shouldHaveToldAll_whenAnEngineWithoutReplayIsEmptied() throws Exception {
    Following following = follow(toTellUntil(null));
    await()
        .atMost(SOON)
        .until(() -> Objects.requireNonNull(following.progress().connection()).up());
    engine.publish(0, 0);
    awaitSequence(following, 0);
    assertThat(following.progress().retellsUntil()).isEqualTo(50);
    engine.publish(1, batch(CLEAR));
    engine.publish(2, 2);
    awaitSequence(following, 2);
    assertThat(following.progress().retellsUntil()).isNull();
    assertThat(sentOf("e").stream().filter(EventRecord::endsRetelling))
        .extracting(record -> record.position().eventId())
        .containsExactly(1L);
  }

  /** What a replay brings is as old as the replay: the engine holds more behind it. */
  @Test
  void shouldGoOnTelling_whenAClearIsReplayed() throws Exception {
    engine.publish(0, batch(CLEAR));
    engine.publish(1, 50);
    Following following = follow(toTellUntil(engine.replayEndpoint()));
    awaitSequence(following, 50);
    assertThat(sentOf("e").stream().filter(EventRecord::endsRetelling))
        .extracting(record -> record.position().eventId())
        .containsExactly(50L);
  }

  private Life toTellUntil(@Nullable String replayEndpoint) {
    return new Life(
        Site.engine("e", engine.endpoint(), replayEndpoint),
        new Incarnation(3, 7, 0),
        null,
        -1,
        false,
        50L,
        false,
        Map.of(),
        List.of());
  }

  private void awaitSequence(Following following, long sequence) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (producer.completeNext()) {}
              return Long.valueOf(sequence).equals(following.progress().lastSequence());
            });
  }

  /** Its time counts on: an engine's batches are told from its predecessor's by that. */
  private static byte[] batch(Object... events) {
    return Pack.bytes(List.of(Clock.micros() / 1e6, List.of(events), 0));
  }
}
