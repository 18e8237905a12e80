// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.metrics.FrameOutcome;
import java.util.Map;

/** What a follower's counters have to say together. */
final class Accounts {

  private Accounts() {}

  static long of(Map<String, Long> counters, String name) {
    return counters.getOrDefault(name, 0L);
  }

  /** Asserts that every frame and every hole is found among the causes; at rest. */
  static void assertBalanced(WorkerStatus status) {
    Map<String, Long> counters = status.counters();
    long outcomes = of(counters, "frames_waiting");
    for (FrameOutcome outcome : FrameOutcome.values()) {
      outcomes += of(counters, outcome.label());
    }
    assertThat(outcomes)
        .as("%s", counters)
        .isEqualTo(of(counters, "frames_live") + of(counters, "frames_replayed"));
    assertThat(of(counters, "gaps_found"))
        .as("%s", counters)
        .isEqualTo(
            of(counters, "gaps_filled") + of(counters, "gaps_lost") + of(counters, "gaps_moot"));
  }
}
