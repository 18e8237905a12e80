// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordSumTest {

  /** It is in checkpoints. */
  @Test
  void shouldStayTheSame_overVersions() {
    assertThat(RecordSum.of(1_700_000_000_000L, new byte[] {1, 2, 3}, new byte[] {4, 5}))
        .isEqualTo(5_131_225_839_036_674_320L);
  }

  @Test
  void shouldTellRecordsApart_byTimeKeyAndValue() {
    byte[] empty = {};
    byte[] one = {1};
    byte[] two = {2};
    byte[] both = {1, 2};
    byte @Nullable [][] parts = {null, empty, one, two, both};
    Set<Long> sums = new HashSet<>();
    for (long time = 0; time < 3; time++) {
      for (byte[] key : parts) {
        for (byte[] value : parts) {
          sums.add(RecordSum.of(time, key, value));
        }
      }
    }
    assertThat(sums).hasSize(3 * 25);
  }
}
