// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MediumLabelsTest {

  @Test
  void shouldCountSpellingsTogether_whenTheyAreOfOneMedium() {
    assertThat(
            MediumLabels.of(
                Map.of("GPU", 1L, "cuda:1", 2L, "CPU_PINNED", 4L, "dram", 8L, "shelf", 16L)))
        .containsOnly(Map.entry("GPU", 3L), Map.entry("CPU", 12L), Map.entry("SHELF", 16L));
  }

  @Test
  void shouldBoundTheLabelsAndLoseNoBlock_whenMediaAreMadeUp() {
    Map<String, Long> blocks = new HashMap<>(Map.of("GPU", 1L, "npu:0", 1L, "TPU", 1L));
    for (int i = 0; i < 1_000; i++) {
      blocks.put("a-" + i, 1L);
    }
    Map<String, Long> labels = MediumLabels.of(blocks);
    assertThat(labels)
        .hasSize(3 + MediumLabels.MAX_UNKNOWN + 1)
        .containsKeys("GPU", "NPU", "TPU")
        .containsEntry(MediumLabels.OTHERS, 1_000L - MediumLabels.MAX_UNKNOWN);
    assertThat(labels.values().stream().mapToLong(held -> held).sum()).isEqualTo(1_003);
  }
}
