// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TalliesTest {

  private final Tallies tallies = new Tallies();

  @Test
  void shouldCountForTheFormerOne_whatWasAskedBefore() {
    Tally former = tallies.current();
    Tally next = tallies.begin();
    former.failed.incrementAndGet();
    assertThat(next).isNotSameAs(former);
    assertThat(tallies.current()).isSameAs(next);
    assertThat(former.failed).hasValue(1);
    assertThat(next.failed).hasValue(0);
  }

  @Test
  void shouldKeepTheFirstFindings_andCountAll() {
    for (int i = 1; i <= 1_000; i++) {
      tallies.found("finding " + i);
    }
    tallies.begin();
    assertThat(tallies.findings())
        .hasSizeBetween(10, 100)
        .startsWith("finding 1", "finding 2")
        .doesNotContain("finding 1000");
    assertThat(tallies.count()).isEqualTo(1_000);
  }
}
