// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.PartitionProgress.Phase;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PartitionProgressTest {

  @Test
  void shouldBeAllOrNothing_whenThereIsNothingToCount() {
    for (Phase phase : Phase.values()) {
      assertThat(PartitionProgress.of(phase).percent())
          .as(phase.wireName())
          .isEqualTo(phase == Phase.READY ? 100 : 0);
    }
    assertThat(PartitionProgress.of(Phase.ABSENT).text()).isEqualTo("not here");
  }

  @Test
  void shouldBeAShare_whenThereIsSomethingToCount() {
    PartitionProgress restoring = new PartitionProgress(Phase.RESTORING, 1_200, 5_000, 400);
    assertThat(restoring.percent()).isEqualTo(24);
    assertThat(restoring.text()).isEqualTo("restoring rows: 1200 of 5000 (24 %, 400/s)");
    PartitionProgress loading = new PartitionProgress(Phase.LOADING, 1, 3, 0);
    assertThat(loading.text()).isEqualTo("loading its index: 1 of 3 (33 %)");
  }

  /** How many rows there will be is guessed, and a log grows while it is read. */
  @Test
  void shouldNotBeMoreThanAll_whenThereWasMoreThanExpected() {
    assertThat(new PartitionProgress(Phase.LOADING, 7, 5, 0).percent()).isEqualTo(100);
  }

  @Test
  void shouldKeepItsNames_whichArePublic() {
    assertThat(Arrays.stream(Phase.values()).map(Phase::wireName))
        .containsExactly("absent", "restoring", "loading", "catching_up", "ready", "stale");
  }
}
