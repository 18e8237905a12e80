// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class StageTimesTest {

  private static StageTimes at(int upToOne, int upToTwo, int all) {
    String bucket = "kvindex_stage_seconds_bucket{stage=\"fetch\",le=\"";
    return new StageTimes(
        "# TYPE kvindex_stage_seconds histogram\n"
            + bucket
            + "0.001\"} "
            + upToOne
            + "\n"
            + bucket
            + "0.002\"} "
            + upToTwo
            + "\n"
            + bucket
            + "+Inf\"} "
            + all
            + "\nkvindex_stage_seconds_sum{stage=\"fetch\"} 1.5\n");
  }

  @Test
  void shouldFindQuantilesOfWhatCameSince_whenBucketsAreRead() {
    StageTimes before = at(100, 100, 100);
    StageTimes after = at(150, 190, 200);
    assertThat(after.countSince(before, "fetch")).isEqualTo(100);
    assertThat(after.quantileSince(before, "fetch", 0.25)).isCloseTo(0.0005, within(1e-9));
    assertThat(after.quantileSince(before, "fetch", 0.7)).isCloseTo(0.0015, within(1e-9));
    assertThat(after.quantileSince(before, "fetch", 0.99)).as("the last edge").isEqualTo(0.002);
  }

  @Test
  void shouldFindNothing_whenNothingCame() {
    StageTimes before = at(100, 100, 100);
    assertThat(before.countSince(before, "fetch")).isZero();
    assertThat(before.countSince(before, "fold")).isZero();
    assertThat(new StageTimes("").quantileSince(before, "fold", 0.5)).isZero();
  }
}
