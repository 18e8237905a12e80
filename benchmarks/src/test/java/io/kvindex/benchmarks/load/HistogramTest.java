// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class HistogramTest {

  @Test
  void shouldAgreeWithSortedValues_withinOneBucket() {
    Histogram histogram = new Histogram();
    for (int i = 1; i <= 100_000; i++) {
      histogram.record(i * 1_000L);
    }

    assertThat(histogram.total()).isEqualTo(100_000);
    assertThat(histogram.max()).isEqualTo(100_000_000);
    assertThat((double) histogram.quantile(0.5)).isCloseTo(50e6, within(50e6 * 0.017));
    assertThat((double) histogram.quantile(0.99)).isCloseTo(99e6, within(99e6 * 0.017));
    assertThat(histogram.quantile(1)).isEqualTo(histogram.max());
  }

  @Test
  void shouldSayZero_whenNothingWasRecorded() {
    assertThat(new Histogram().quantile(0.5)).isZero();
  }
}
