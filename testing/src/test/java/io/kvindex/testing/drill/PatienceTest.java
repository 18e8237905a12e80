// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PatienceTest {

  private static final long LONG_MS = 50_000;

  private final DrillLoad load = Drills.load(List.of(), new Tallies());

  @AfterEach
  void close() throws InterruptedException {
    load.close();
  }

  @Test
  void shouldNotWait_whenItHoldsAlready() throws Exception {
    assertThat(Patience.await(load, 0, () -> true)).as("it is looked at once").isTrue();
  }

  @Test
  void shouldLookAgainAndAgain_untilItHolds() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    assertThat(Patience.await(load, LONG_MS, () -> looks.incrementAndGet() == 3)).isTrue();
    assertThat(looks).hasValue(3);
  }

  @Test
  void shouldGiveUp_whenTheTimeIsOver() throws Exception {
    long begunNs = System.nanoTime();
    assertThat(Patience.await(load, 250, () -> false)).isFalse();
    assertThat(System.nanoTime() - begunNs).isGreaterThanOrEqualTo(Drills.ms(250));
  }

  @Test
  void shouldLetAllTheTimePass_whenItPauses() throws Exception {
    long begunNs = System.nanoTime();
    Patience.pause(load, 250);
    assertThat(System.nanoTime() - begunNs).isGreaterThanOrEqualTo(Drills.ms(250));
  }

  @Test
  void shouldPassOnWhatTheLookFailedWith() {
    assertThatThrownBy(
            () ->
                Patience.await(
                    load,
                    LONG_MS,
                    () -> {
                      throw new IOException("down");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("down");
  }

  @Test
  void shouldEnd_whenTheDrillIsStopped() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> Patience.pause(load, LONG_MS))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  /** What a load that has ended did not find is no promise kept. */
  @Test
  void shouldFail_whenTheLoadHasEnded() {
    load.engines().forEach(DrillEngine::close);
    load.startEngines();
    assertThatThrownBy(() -> Patience.pause(load, LONG_MS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the drill itself failed")
        .hasMessageContaining("drill-0 is closed");
  }
}
