// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DepartureTest {

  private static final long HOLD = Departure.HOLD.toNanos();
  private static final long NOW = Long.MAX_VALUE - HOLD / 2;

  private final Departure departure = new Departure(2);

  @Test
  void shouldBeOverAtOnce_whenAllSayThatTheyHaveChanged() {
    departure.present(2);
    assertThat(departure.isOver(2, NOW)).isTrue();
  }

  @Test
  void shouldWait_whenAReplicaIsOutOfTheGroupAndHasNotChanged() {
    departure.present(2);
    assertThat(departure.isOver(1, NOW)).isFalse();
    assertThat(departure.isOver(1, NOW + HOLD - 1)).isFalse();
    assertThat(departure.isOver(1, NOW + HOLD)).as("longer than one may be away").isTrue();
  }

  @Test
  void shouldWait_whenItStoodStillFromTheBeginning() {
    departure.present(1);
    assertThat(departure.isOver(1, NOW)).isFalse();
  }

  @Test
  void shouldKnowTheMostThatWereSeen() {
    departure.present(3);
    departure.present(1);
    assertThat(departure.replicas()).isEqualTo(3);
    assertThat(departure.isOver(2, NOW)).isFalse();
  }

  @Test
  void shouldWaitAnew_whenOneCameBackOrNobodyCouldTell() {
    assertThat(departure.isOver(1, NOW)).isFalse();
    departure.present(1);
    assertThat(departure.isOver(1, NOW + HOLD)).isFalse();
    departure.unknown();
    assertThat(departure.isOver(1, NOW + 2 * HOLD)).isFalse();
    assertThat(departure.isOver(1, NOW + 3 * HOLD)).isTrue();
  }
}
