// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StandstillTest {

  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 5);
  private final Standstill standstill = new Standstill(nowNs::get);

  @Test
  void shouldNotBeSeen_whenTheProcessRuns() {
    for (int i = 0; i < 20; i++) {
      nowNs.addAndGet(Standstill.MISSED_NANOS);
      assertThat(standstill.lately()).isFalse();
      standstill.beat();
      assertThat(standstill.lately()).isFalse();
    }
  }

  @Test
  void shouldNotAnswerForAMoment_whenItStoodStillForLong() {
    nowNs.addAndGet(Standstill.MISSED_NANOS + 1);
    standstill.beat();
    assertThat(standstill.isAwakening()).as("2 s are not long").isFalse();
    nowNs.addAndGet(Standstill.LONG_NANOS + 1);
    assertThat(standstill.isAwakening()).as("before the first beat").isTrue();
    standstill.beat();
    nowNs.addAndGet(Standstill.AWAKENING_NANOS - 1);
    assertThat(standstill.isAwakening()).isTrue();
    standstill.beat();
    nowNs.addAndGet(1);
    assertThat(standstill.isAwakening()).isFalse();
  }

  @Test
  void shouldBeSeenForAWhile_whenBeatsWereMissed() {
    nowNs.addAndGet(Standstill.MISSED_NANOS + 1);
    assertThat(standstill.lately()).as("before the first beat").isTrue();
    standstill.beat();
    for (long ns = 0; ns < Standstill.LATELY_NANOS; ns += Standstill.MISSED_NANOS) {
      assertThat(standstill.lately()).isTrue();
      nowNs.addAndGet(Standstill.MISSED_NANOS);
      standstill.beat();
    }
    assertThat(standstill.lately()).isFalse();
  }
}
