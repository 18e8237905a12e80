// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NewLifeBrakeTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void shouldNotBrake_whenAnEngineRestartsEverySecond() {
    NewLifeBrake brake = new NewLifeBrake();
    for (int i = 0; i < 1_000; i++) {
      assertThat(brake.pauseAfter(i * SECOND)).isZero();
    }
  }

  @Test
  void shouldBrake_untilAMinuteIsOver_whenLivesFollowEachOtherFasterThanAnyEngine() {
    NewLifeBrake brake = new NewLifeBrake();
    for (int i = 0; i < NewLifeBrake.FREE; i++) {
      assertThat(brake.pauseAfter(i)).isZero();
    }
    assertThat(brake.pauseAfter(SECOND)).isPositive();
    assertThat(brake.pauseAfter(62 * SECOND)).isZero();
  }
}
