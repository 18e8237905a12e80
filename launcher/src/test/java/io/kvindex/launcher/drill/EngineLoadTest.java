// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.launcher.drill.DrillOptions.Load;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineLoadTest {

  /** A turn stores 16 blocks and, in a full cache, evicts as many. */
  @ParameterizedTest
  @CsvSource({"10000, 16, 10, 2", "10000, 16, 20, 1", "400, 2, 10, 1", "6400, 1, 10, 20"})
  void shouldKeepEnginesAtTheirStepsASecond(int operations, int instances, int steps, int turns) {
    assertThat(EngineLoad.turns(new Load(operations, 200, instances, steps, 4_096, 3_000)))
        .isEqualTo(turns);
  }
}
