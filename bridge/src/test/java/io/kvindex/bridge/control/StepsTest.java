// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepsTest {

  private final Steps steps = new Steps(() -> {});
  private final List<String> done = new ArrayList<>();

  @Test
  void shouldLeaveWhatAStepAddsForTheNextTurn_whenItFailsAtOnce() throws Exception {
    steps.add(this::failAtOnce);
    steps.run();
    assertThat(done).containsExactly("failed");
    steps.run();
    assertThat(done).containsExactly("failed", "failed");
  }

  private void failAtOnce() {
    done.add("failed");
    steps.add(this::failAtOnce);
  }

  @Test
  void shouldWait_whenAStepIsForLater() throws Exception {
    steps.addLater(() -> done.add("late"), Duration.ofHours(1));
    steps.addLater(() -> done.add("now"), Duration.ZERO);
    steps.run();
    steps.run();
    assertThat(done).containsExactly("now");
  }
}
