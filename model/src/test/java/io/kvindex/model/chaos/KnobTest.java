// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KnobTest {

  @ParameterizedTest
  @EnumSource
  void shouldLeaveTheCodesOwnNumber_whenNobodySaysOtherwise(Knob knob) {
    assertThat(knob.or(17)).isEqualTo(17);
    assertThat(knob.option(5)).startsWith("-Dkvindex.unsafe.").endsWith("=5");
  }
}
