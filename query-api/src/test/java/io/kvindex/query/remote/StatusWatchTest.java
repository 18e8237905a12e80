// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which of the others count as silent. */
class StatusWatchTest extends OneOfThree {

  @Test
  void shouldNotTakeOthersForSilent_whenItStoodStillItself() {
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(60));
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    others.silent = Set.of(ACTIVE);
    looks(4);
    assertThat(access.others().isSilent(ACTIVE)).as("asked for less than a second").isFalse();
    looks(2);
    assertThat(access.others().isSilent(ACTIVE)).isTrue();
  }

  /** As a starved one looks: what it has not read yet nobody has failed to say. */
  @Test
  void shouldNotTakeOthersForSilent_whenItsOwnLooksAreLate() {
    looks(8);
    others.silent = Set.of(ACTIVE);
    for (int i = 0; i < 5; i++) {
      nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_300));
      access.others().look();
      assertThat(access.others().isSilent(ACTIVE)).isFalse();
    }
  }

  @Test
  void shouldTakeOneForSilent_whenItHasNeverSaidAnything() {
    others.silent = Set.of(ACTIVE);
    looks(5);
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    looks(1);
    assertThat(access.others().isSilent(ACTIVE)).isTrue();
    assertThat(access.others().isSilent(STANDBY)).isFalse();
  }

  @Test
  void shouldNotTakeOneForSilent_whenItRefuses() {
    looks(8);
    others.refusing = Set.of(ACTIVE);
    looks(8);
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    assertThat(access.others().problemOf(ACTIVE)).contains("503");
  }

  /** What is done with each look must not end the looks. */
  @Test
  void shouldLookOn_whenWhatFollowsFails() throws Exception {
    CountDownLatch looks = new CountDownLatch(3);
    try (StatusWatch watch =
        new StatusWatch(new Placed(), others, new SimpleMeterRegistry(), System::nanoTime)) {
      watch.start(
          () -> {
            looks.countDown();
            throw new IllegalStateException("closed meanwhile");
          });
      assertThat(looks.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }
}
