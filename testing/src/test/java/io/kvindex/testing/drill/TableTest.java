// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.TablePartition;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

  @Test
  void shouldNameModelsOfDifferentPartitions() {
    List<String> models = Table.models(6, 6);
    assertThat(models)
        .extracting(model -> TablePartition.of(Table.TENANT, model, Text.BLOCK, 6))
        .containsExactly(0, 1, 2, 3, 4, 5);
  }
}
