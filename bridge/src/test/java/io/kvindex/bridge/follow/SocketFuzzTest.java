// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static io.kvindex.bridge.follow.Accounts.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.decode.Mutants;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.topic.Topics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Messages that are damaged in every way come through a real PUB socket to a real follower: it goes
 * on, keeps nothing, and says of each frame what became of it.
 */
class SocketFuzzTest extends RoughFixture {

  private static final int INPUTS = 20_000;
  private static final int QUIET_EVERY = 500;
  private static final int KEPT_FOR_REPLAY = 2_000;
  private static final int LARGE = 100_000;

  private int steps;

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
    // Who is right, a damaged batch or those after it, shows only once some have come in a row.
    long good = next;
    await()
        .atMost(LATER)
        .untilAsserted(
            () -> {
              publish(FakeEngine.payload(next));
              assertThat(isProducedFrom(good))
                  .as("a batch from %d on is taken: %s", good, following.status().counters())
                  .isTrue();
            });
    awaitQuiet(following);
    following.stop();
    await().atMost(LATER).until(following::isSettled);
    await().atMost(LATER).untilAsserted(() -> Accounts.assertBalanced(following.status()));
    Map<String, Long> counters = following.status().counters();
    assertThat(of(counters, "frames_live")).isEqualTo(sentLive);
    for (FrameOutcome outcome :
        List.of(
            FrameOutcome.APPLIED,
            FrameOutcome.MALFORMED,
            FrameOutcome.QUARANTINED,
            FrameOutcome.UNREADABLE,
            FrameOutcome.DUPLICATE_OR_LATE)) {
      assertThat(of(counters, outcome.label()))
          .as("%s of %s", outcome.label(), counters)
          .isPositive();
    }
  }

  private void step(Random random) {
    switch (random.nextInt(10)) {
      case 0 -> wrongFrames(random);
      case 1 -> publishCutOff(topic(random), random);
      case 2 -> again(random);
      case 3 -> {
        if (random.nextInt(20) == 0) { // each is asked for
          sendLive(topic(random), FakeEngine.sequence(random.nextLong()), Mutants.payload(random));
        }
      }
      case 4, 5, 6 -> publishDamaged(random);
      default -> publish(FakeEngine.payload(next));
    }
  }

  private void publishDamaged(Random random) {
    byte[] payload = Mutants.payload(random);
    // Nothing at all ends a replay.
    publish(payload.length == 0 ? new byte[1] : payload);
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
    sendLive(frames.toArray(byte[][]::new));
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

  /** Known batches, as they were or damaged. */
  private void again(Random random) {
    long sequence = Math.max(0, next - 1 - random.nextInt(20));
    byte[] payload = engine.publishedOrNull(sequence);
    if (payload != null) {
      int length = random.nextBoolean() ? payload.length : random.nextInt(payload.length);
      sendLive(topic(random), FakeEngine.sequence(sequence), Arrays.copyOf(payload, length));
    }
  }

  /**
   * What is in it does not matter: a batch before may have said that its blocks are not indexed.
   */
  private boolean isProducedFrom(long first) {
    return producer.history().stream()
        .filter(record -> record.topic().equals(Topics.EVENTS))
        .map(record -> EventRecordCodec.decode(record.value()))
        .mapToLong(record -> record.position().eventId())
        .anyMatch(sequence -> sequence >= first && sequence < next);
  }
}
