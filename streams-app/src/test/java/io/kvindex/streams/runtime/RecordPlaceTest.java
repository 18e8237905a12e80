// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordPlaceTest {

  @ParameterizedTest
  @CsvSource({
    // offset, sum, folded offset, folded sum, place, usual
    "0, 7, -1, 0, NEXT, true",
    "1, 7, -1, 0, BEYOND_NEXT, false",
    "5000, 7, -1, 0, BEYOND_NEXT, false",
    "0, 7, 0, 7, REREAD_EQUAL, true",
    "0, 8, 0, 7, OTHER_SUM, false",
    "1, 7, 0, 7, NEXT, true",
    "99, 7, 99, 7, REREAD_EQUAL, true",
    "99, -7, 99, 7, OTHER_SUM, false",
    "100, 7, 99, 7, NEXT, true",
    "101, 7, 99, 7, BEYOND_NEXT, false",
    "98, 7, 99, 7, LOWER, false",
    "0, 7, 99, 7, LOWER, false",
    "9223372036854775807, 7, 99, 7, BEYOND_NEXT, false",
  })
  void shouldSayWhereARecordStands(
      long offset, long sum, long foldedOffset, long foldedSum, RecordPlace place, boolean usual) {
    assertThat(RecordPlace.of(offset, sum, foldedOffset, foldedSum)).isEqualTo(place);
    assertThat(place.isUsual()).isEqualTo(usual);
  }
}
