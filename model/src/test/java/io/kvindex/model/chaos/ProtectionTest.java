// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProtectionTest {

  @ParameterizedTest
  @EnumSource
  void shouldBeOn_whenNobodySaysOtherwise(Protection protection) {
    assertThat(protection.isOff()).isFalse();
    assertThat(Protection.without()).isNull();
    assertThat(Protection.named(protection.wireName())).isEqualTo(protection);
  }

  @Test
  void shouldNameThemAll_whenOneIsUnknown() {
    assertThat(Protection.named("")).isNull();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Protection.named("luck"))
        .withMessage(
            "kvindex.unsafe.without=luck: must be one of repair, fencing, dedupe, hold-back, tombstone");
  }
}
