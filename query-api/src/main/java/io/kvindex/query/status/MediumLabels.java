// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.Media;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Blocks by medium as metric labels. What a medium is called comes from the wire: spellings of one
 * medium are counted together, and unknown ones can not make new time series without end.
 */
final class MediumLabels {

  /** Media beyond the ones every site knows that get a label of their own. */
  static final int MAX_UNKNOWN = 8;

  /** Label of all the others together; lower case, so that no medium can be called like it. */
  static final String OTHERS = "other";

  private static final Set<String> KNOWN = Set.of(Media.GPU, Media.CPU, Media.DISK, "NPU", "TPU");

  private MediumLabels() {}

  /**
   * Adds up blocks by the key a medium is counted under in answers.
   *
   * @param blocks blocks by medium as sent
   */
  static SortedMap<String, Long> of(Map<String, Long> blocks) {
    SortedMap<String, Long> byKey = new TreeMap<>();
    blocks.forEach(
        (medium, held) -> byKey.merge(Media.standard().answerKey(medium), held, Long::sum));
    SortedMap<String, Long> labels = new TreeMap<>();
    int unknown = 0;
    for (Map.Entry<String, Long> one : byKey.entrySet()) {
      boolean named = KNOWN.contains(one.getKey()) || unknown++ < MAX_UNKNOWN;
      labels.merge(named ? one.getKey() : OTHERS, one.getValue(), Long::sum);
    }
    return labels;
  }
}
