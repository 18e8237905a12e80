// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class TornRowsTest {

  private final TornRows rows = new TornRows();

  private boolean torn(int... partitions) {
    return rows.any(Arrays.stream(partitions).mapToObj(p -> new TopicPartition("e", p)).toList());
  }

  @Test
  void shouldKnowWhoseRowsAreInNoChangelog_untilTheirTasksBeginAnew() {
    rows.wrote(1);
    rows.wrote(2);
    rows.aborted();
    rows.wrote(3);
    assertThat(torn(1)).isTrue();
    assertThat(torn(3, 2)).isTrue();
    assertThat(torn(3, 4)).isFalse();
    rows.begins(1);
    assertThat(torn(1, 3)).isFalse();
    rows.wrote(1);
    rows.committed();
    rows.aborted();
    assertThat(torn(1, 3)).as("an empty transaction").isFalse();
    assertThat(torn(2)).isTrue();
    assertThat(rows.any(List.of())).isFalse();
  }
}
