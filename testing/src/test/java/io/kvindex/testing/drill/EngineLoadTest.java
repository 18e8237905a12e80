// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.DrillOptions.Load;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineLoadTest {

  /** A turn stores 16 blocks and, in a full cache, evicts as many. */
  @ParameterizedTest
  @CsvSource({
    "10000, 16, 10, 6, 4",
    "10000, 16, 30, 6, 1",
    "10000, 2, 100, 2, 2",
    "6400, 1, 20, 1, 20",
    "10, 1, 10, 1, 1"
  })
  void shouldKeepEnginesAtTheirBatchesASecond(
      int operations, int instances, int batches, int tables, int turns) {
    Load load = new Load(operations, 200, instances, batches, 4_096, 3_000);
    assertThat(EngineLoad.turns(load, tables)).isEqualTo(turns);
  }
}
