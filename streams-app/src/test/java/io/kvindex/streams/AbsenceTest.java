// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.junit.jupiter.api.Test;

class AbsenceTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final ProcessId A = new ProcessId(new UUID(0, 1));
  private static final ProcessId B = new ProcessId(new UUID(0, 2));
  private static final ProcessId C = new ProcessId(new UUID(0, 3));

  private Instant now = Instant.EPOCH;
  private final Absence absence = new Absence(PATIENCE, () -> now);

  private void pass(Duration time) {
    now = now.plus(time);
  }

  @Test
  void shouldAwaitNobody_whenReplicasOnlyCome() {
    assertThat(absence.see(Set.of(A), false)).isNull();
    assertThat(absence.see(Set.of(A, B), false)).isNull();
    assertThat(absence.see(Set.of(A, B), true)).as("on their way from one to another").isNull();
  }

  @Test
  void shouldAwaitWhoLeft_untilItsTimeIsOver() {
    absence.see(Set.of(A, B, C), false);
    Instant until = now.plus(PATIENCE);
    assertThat(absence.see(Set.of(A, B), true)).isEqualTo(until);
    pass(Duration.ofSeconds(10));
    assertThat(absence.see(Set.of(A, B), false)).as("asked for another reason").isEqualTo(until);
    pass(Duration.ofSeconds(20));
    assertThat(absence.see(Set.of(A, B), false)).as("it is not coming").isNull();
  }

  @Test
  void shouldAwaitNobody_whenItIsBackOrAnotherOneInItsPlace() {
    absence.see(Set.of(A, B), false);
    absence.see(Set.of(A), true);
    assertThat(absence.see(Set.of(A, B), false)).isNull();
    absence.see(Set.of(B), true);
    assertThat(absence.see(Set.of(B, C), false)).isNull();
    assertThat(absence.see(Set.of(A, C), true)).as("both at once").isNull();
  }

  @Test
  void shouldAwaitLonger_whenASecondOneLeaves() {
    absence.see(Set.of(A, B, C), false);
    absence.see(Set.of(A, B), true);
    pass(Duration.ofSeconds(10));
    assertThat(absence.see(Set.of(A), true)).isEqualTo(now.plus(PATIENCE));
  }

  @Test
  void shouldTellFromPartitionsWithoutOwner_whenItHasJustBecomeTheLeader() {
    assertThat(absence.see(Set.of(A, B), true)).isEqualTo(now.plus(PATIENCE));
  }

  @Test
  void shouldAwaitNobody_whenThereIsNoPatience() {
    Absence none = new Absence(Duration.ZERO, () -> now);
    none.see(Set.of(A, B), false);
    assertThat(none.see(Set.of(A), true)).isNull();
  }
}
