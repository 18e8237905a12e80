// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which of the others count as dead, and which are asked. */
class ReplicaWatchTest extends OneOfThree {

  @Test
  void shouldNotTakeOthersForDead_whenItStoodStillItself() {
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(60));
    assertThat(access.others().isDead(FIRST)).isFalse();
    others.silent = Set.of(FIRST);
    looks(4);
    assertThat(access.others().isDead(FIRST)).as("asked for less than a second").isFalse();
    looks(2);
    assertThat(access.others().isDead(FIRST)).isTrue();
  }

  /** As a starved one looks: what it has not read yet nobody has failed to say. */
  @Test
  void shouldNotTakeOthersForDead_whenItsOwnLooksAreLate() {
    looks(8);
    others.silent = Set.of(FIRST);
    for (int i = 0; i < 5; i++) {
      nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_300));
      access.others().look();
      assertThat(access.others().isDead(FIRST)).isFalse();
    }
  }

  @Test
  void shouldTakeOneForDead_whenItHasNeverSaidAnything() {
    others.silent = Set.of(FIRST);
    looks(5);
    assertThat(access.others().isDead(FIRST)).isFalse();
    looks(1);
    assertThat(access.others().isDead(FIRST)).isTrue();
    assertThat(access.others().isDead(SECOND)).isFalse();
  }

  @Test
  void shouldNotTakeOneForDead_whenItRefuses() {
    looks(8);
    others.refusing = Set.of(FIRST);
    looks(8);
    assertThat(access.others().isDead(FIRST)).isFalse();
    assertThat(access.others().problemOf(FIRST)).contains("503");
  }

  /** What is done with each look must not end the looks. */
  @Test
  void shouldLookOn_whenWhatFollowsFails() throws Exception {
    CountDownLatch looks = new CountDownLatch(3);
    try (ReplicaWatch watch =
        new ReplicaWatch(
            new Here(), () -> group, others, new SimpleMeterRegistry(), System::nanoTime)) {
      watch.start(
          () -> {
            looks.countDown();
            throw new IllegalStateException("closed meanwhile");
          });
      assertThat(looks.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void shouldTakeOneForDeadAtOnce_whenItsPortIsClosed() {
    looks(1);
    others.closed = Set.of(FIRST);
    looks(1);
    assertThat(access.others().isDead(FIRST)).isTrue();
    others.closed = Set.of();
    looks(1);
    assertThat(access.others().isDead(FIRST)).isFalse();
  }

  @Test
  void shouldNameThoseFirstThatAreKeptUp() {
    assertThat(holders().mayBeReady()).as("nobody was asked yet").isTrue();
    others.behind = Set.of(FIRST);
    looks(1);
    assertThat(holders()).isEqualTo(new Holders(List.of(SECOND, FIRST), true, false));
    others.loading = Set.of(SECOND);
    looks(1);
    assertThat(holders()).isEqualTo(new Holders(List.of(FIRST), false, false));
    others.behind = Set.of();
    others.loading = Set.of();
    looks(1);
    others.closed = Set.of(FIRST);
    looks(1);
    assertThat(holders()).isEqualTo(new Holders(List.of(SECOND, FIRST), true, false));
  }

  /** What was announced before would be missing in the answer, and nobody would see it. */
  @Test
  void shouldNotNameOneThatLacksOlderBlocks_unlessNobodyElseLives() {
    others.since = Map.of(FIRST, 900L, SECOND, 100L);
    looks(1);
    assertThat(holders()).isEqualTo(new Holders(List.of(SECOND), true, false));
    here = since(50);
    assertThat(holders().areCut()).as("this one has the most").isTrue();
    here = since(900);
    assertThat(holders())
        .as("as much as here")
        .isEqualTo(new Holders(List.of(SECOND), true, false));
    here = null;
    others.closed = Set.of(SECOND);
    looks(1);
    assertThat(holders()).isEqualTo(new Holders(List.of(FIRST, SECOND), true, true));
  }

  /** One that stands still is found out by the questions of queries, long before it is dead. */
  @Test
  void shouldNameThoseLastThatAreSilent_asSoonAsAQuestionTakesTooLong() {
    looks(1);
    FailureDetector detector = access.others().detector();
    detector.asked(FIRST);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    assertThat(holders().inOrder()).containsExactly(FIRST, SECOND);
    nowNs.addAndGet(1);
    detector.asked(FIRST);
    assertThat(holders()).isEqualTo(new Holders(List.of(SECOND, FIRST), true, false));
    others.behind = Set.of(SECOND);
    detector.answered(FIRST);
    looks(1);
    detector.asked(FIRST);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(holders())
        .as("it may be ready")
        .isEqualTo(new Holders(List.of(FIRST, SECOND), true, false));
    detector.answered(FIRST);
    assertThat(detector.isSuspect(FIRST)).isFalse();
  }

  private Holders holders() {
    return access.others().holders(0);
  }
}
