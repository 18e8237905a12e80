// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.model.topic.TablePartition;
import java.util.ArrayList;
import java.util.List;

/**
 * Engines that serve one model, in a partition of its own.
 *
 * @param number from 0
 * @param model what they serve
 * @param engines never empty
 */
record Table(int number, String model, List<DrillEngine> engines) {

  static final String TENANT = "default";

  /** Names of models of which each is in another partition. */
  static List<String> models(int count, int partitions) {
    List<String> models = new ArrayList<>();
    for (int partition = 0; partition < count; partition++) {
      int suffix = 0;
      while (TablePartition.of(TENANT, "drill-" + suffix, Text.BLOCK, partitions) != partition) {
        suffix++;
      }
      models.add("drill-" + suffix);
    }
    return models;
  }
}
