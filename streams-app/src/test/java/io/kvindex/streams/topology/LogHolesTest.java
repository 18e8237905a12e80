// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LogHolesTest {

  @Test
  void shouldFindWhatWasDeletedWhileItRan() {
    LogHoles holes = new LogHoles(Map.of());
    assertThat(holes.before(1, 40)).as("nobody knows what was before").isZero();
    assertThat(holes.before(1, 41)).isZero();
    assertThat(holes.before(1, 50)).isEqualTo(8);
    assertThat(holes.before(1, 51)).isZero();
  }

  @Test
  void shouldFindWhatWasDeletedBeforeItStarted() {
    Map<Integer, Hole> atStart = Map.of(1, new Hole(40, 50));
    assertThat(new LogHoles(atStart).before(1, 50)).isEqualTo(10);
    assertThat(new LogHoles(atStart).before(1, 51)).as("another one has read 50").isZero();
    assertThat(new LogHoles(atStart).before(2, 50)).isZero();
  }
}
