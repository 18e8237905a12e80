// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names as Dynamo's numbers. */
class WorkerIdTest {

  @ParameterizedTest
  @CsvSource({
    "0,true",
    "7,true",
    "18446744073709551615,true",
    "18446744073709551616,false",
    "007,false",
    "+7,false",
    "-7,false",
    "pod-1,false",
    "'',false"
  })
  void shouldNumberInstances(String instance, boolean number) {
    assertThat(WorkerId.isNumber(instance)).isEqualTo(number);
    if (number) {
      assertThat(Long.toUnsignedString(WorkerId.of(instance))).isEqualTo(instance);
    } else {
      assertThat(WorkerId.of(instance)).isNotNegative();
    }
  }
}
