// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TalliesTest {

  private final Tallies tallies = new Tallies();

  @Test
  void shouldCountForTheFormerOne_whatWasAskedBefore() {
    Tally former = tallies.current();
    Tally next = tallies.begin("round 1");
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
    tallies.begin("round 1, kill -9 index-1");
    assertThat(tallies.findings())
        .hasSizeBetween(10, 100)
        .startsWith("before anything was done: finding 1", "before anything was done: finding 2")
        .noneMatch(one -> one.endsWith("finding 1000"));
    assertThat(tallies.count()).isEqualTo(1_000);
  }

  @Test
  void shouldSayWhatWasDone_whenSomethingWasFound() {
    tallies.begin("round 1, kill -9 index-1");
    tallies.found("a finding");
    assertThat(tallies.findings()).containsExactly("round 1, kill -9 index-1: a finding");
  }

  @Test
  void shouldTellWhatWasWrongFirst_howeverMuchElseWasFound() {
    for (int i = 1; i <= 1_000; i++) {
      tallies.found("refused " + i);
    }
    tallies.foundWrong("wrong");
    assertThat(tallies.findings()).first().isEqualTo("before anything was done: wrong");
    assertThat(tallies.count()).isEqualTo(1_001);
  }
}
