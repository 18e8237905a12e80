// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogWatchTest {

  private static final Uuid TOPIC = new Uuid(1, 2);
  private static final Uuid ANOTHER = new Uuid(1, 3);

  @ParameterizedTest
  @CsvSource({
    // whether the table is of this topic, last folded, log's end, first offset lost
    "true, -1, 0,",
    "true, -1, 7,",
    "true, 9, 10,",
    "true, 9, 11,",
    "true, 9, 9, 9",
    "true, 9, 3, 3",
    "true, 9, 0, 0",
    "true, 0, 0, 0",
    "true, 9, ,",
    "false, 9, 10, 0",
    "false, 9, 3, 0",
    "false, -1, 0, 0",
    "false, 9, , 0",
    ", 9, 10,",
    ", 9, 9, 9",
  })
  void shouldObject_whenTheLogIsNotTheTables(
      @Nullable Boolean same, long folded, @Nullable Long end, @Nullable Long lostFrom) {
    Uuid of = same == null ? null : same ? TOPIC : ANOTHER;
    Refusal why = LogWatch.objection(of, TOPIC, folded, end);
    if (lostFrom == null) {
      assertThat(why).isNull();
    } else {
      assertThat(why)
          .extracting(Refusal::cause, Refusal::offset)
          .containsExactly(Refusal.Cause.LOG_LOST_END, lostFrom);
    }
  }
}
