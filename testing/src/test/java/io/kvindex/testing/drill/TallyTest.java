// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TallyTest {

  /** Queries of 1, 2, 3 ... ms, in no order. */
  private static Tally upTo(int count) {
    long[] ms = LongStream.rangeClosed(1, count).toArray();
    Random random = new Random(1);
    for (int i = count - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      long one = ms[i];
      ms[i] = ms[other];
      ms[other] = one;
    }
    Tally tally = new Tally();
    for (long one : ms) {
      tally.latencies.add(Drills.ms(one));
    }
    return tally;
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1, 1",
    "2, 1, 2, 2",
    "99, 50, 99, 99",
    "100, 50, 99, 100",
    "101, 51, 100, 101",
    "200, 100, 198, 200",
    "3000, 1500, 2970, 3000"
  })
  void shouldTellTheTimeThatSoManyDoNotExceed(int count, double p50, double p99, double longest) {
    Tally tally = upTo(count);
    assertThat(tally.latencies.count()).isEqualTo(count);
    assertThat(tally.latencies.percentileMs(0.5)).isEqualTo(p50);
    assertThat(tally.latencies.percentileMs(0.99)).isEqualTo(p99);
    assertThat(tally.latencies.percentileMs(1)).isEqualTo(longest);
  }

  @Test
  void shouldBreakThePromise_whenTwoOfAHundredAreTooSlow() {
    Tally tally = Drills.good(98, 300);
    tally.latencies.add(Drills.ms(301));
    assertThat(tally.latencies.percentileMs(0.99))
        .as("the one of 99")
        .isGreaterThan(Drills.options().allowedP99Ms());
    tally.latencies.add(Drills.ms(300));
    assertThat(tally.latencies.percentileMs(0.99)).as("one of 100").isEqualTo(300);
    tally.latencies.add(Drills.ms(301));
    assertThat(tally.latencies.percentileMs(0.99)).as("two of 101").isEqualTo(301);
  }
}
