// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.Staleness.Window;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StalenessTest {

  private final Staleness staleness = new Staleness();

  private void observe(String replica, long atMs, long ageMs) {
    staleness.observe(replica, ms(atMs), ms(ageMs), "an event " + ageMs + " ms old");
  }

  private static long ms(long ms) {
    return TimeUnit.MILLISECONDS.toNanos(ms);
  }

  @Test
  void shouldTellOneWindow_fromTheFirstEventThatWasMissingToTheCatchingUp() {
    staleness.begin();
    observe("index-1", 10_000, 30);
    observe("index-1", 11_500, 1_200);
    observe("index-1", 15_000, 4_700);
    observe("index-1", 15_100, 2_000);
    observe("index-1", 15_200, 0);
    observe("index-1", 15_300, 40);
    assertThat(staleness.windows())
        .containsExactly(
            new Window("index-1", ms(10_300), ms(15_200), ms(4_700), "an event 4700 ms old"));
    assertThat(staleness.peakNs()).isEqualTo(ms(4_700));
  }

  @Test
  void shouldTellNoWindow_whenNothingIsMoreThanASecondBehind() {
    staleness.begin();
    observe("index-1", 10_000, 1_000);
    observe("index-1", 10_100, 0);
    assertThat(staleness.windows()).isEmpty();
    assertThat(staleness.peakNs()).isEqualTo(ms(1_000));
  }

  @Test
  void shouldKeepReplicasApart() {
    staleness.begin();
    observe("index-1", 10_000, 2_000);
    observe("index-2", 10_000, 0);
    observe("index-2", 11_000, 3_000);
    observe("index-1", 11_000, 0);
    assertThat(staleness.windows())
        .extracting(Window::replica)
        .containsExactly("index-1", "index-2");
  }

  @Test
  void shouldForgetWhatWasOver_butNotWhatGoesOn() {
    observe("index-1", 10_000, 2_000);
    observe("index-1", 10_100, 0);
    observe("index-2", 10_000, 2_000);
    staleness.begin();
    assertThat(staleness.windows()).extracting(Window::replica).containsExactly("index-2");
    assertThat(staleness.peakNs()).isZero();
  }

  @Test
  void shouldBeCalm_onlyWhenAllHaveAnsweredAndNoneWasBehindSince() {
    List<String> both = List.of("index-1", "index-2");
    observe("index-1", 10_000, 0);
    assertThat(staleness.isCalm(both, ms(9_000))).as("index-2 never answered").isFalse();
    observe("index-2", 10_000, 1_500);
    assertThat(staleness.isCalm(both, ms(9_000))).as("index-2 was behind").isFalse();
    observe("index-2", 10_500, 0);
    assertThat(staleness.isCalm(both, ms(10_001))).as("index-1 has not answered since").isFalse();
    observe("index-1", 10_500, 0);
    assertThat(staleness.isCalm(both, ms(10_001))).isTrue();
  }
}
