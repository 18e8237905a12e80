// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogHolesTest {

  private final LogHoles holes = new LogHoles();

  @Test
  void shouldFindWhatWasDeletedWhileItRan() {
    holes.begin(40);
    assertThat(holes.before(40)).isZero();
    assertThat(holes.before(41)).isZero();
    assertThat(holes.before(50)).isEqualTo(8);
    assertThat(holes.before(51)).isZero();
  }

  @Test
  void shouldFindWhatWasDeletedBeforeItBegan() {
    holes.begin(40);
    assertThat(holes.before(50)).isEqualTo(10);
  }

  @Test
  void shouldFindNothing_whereNothingWasReadBefore() {
    holes.begin(LogHoles.UNKNOWN);
    assertThat(holes.before(50)).isZero();
  }

  /** The partition was another replica's meanwhile, and comes back. */
  @Test
  void shouldForgetTheTaskBefore() {
    holes.begin(40);
    assertThat(holes.before(40)).isZero();
    holes.begin(90);
    assertThat(holes.before(90)).isZero();
    holes.begin(80);
    assertThat(holes.before(80)).isZero();
  }

  /** What was read before is read again: that some of it is gone meanwhile is nothing new. */
  @Test
  void shouldFindNothing_inWhatWasReadBefore() {
    holes.begin(40);
    assertThat(holes.before(20)).isZero();
    assertThat(holes.before(30)).isZero();
    assertThat(holes.before(42)).isEqualTo(2);
    assertThat(holes.before(43)).isZero();
  }
}
