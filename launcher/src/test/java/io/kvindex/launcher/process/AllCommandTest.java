// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.hash.HashProfile;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AllCommandTest {

  @Test
  void shouldUseTheStandardSeed_whenConductorSeedIsUnsetOrBlank() {
    assertThat(AllCommand.defaultProfile(Map.of())).isEqualTo(HashProfile.XXH3_DEFAULT);
    assertThat(AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", " ")))
        .isEqualTo(HashProfile.XXH3_DEFAULT);
  }

  @Test
  void shouldUseTheGivenSeed_whenConductorSeedIsANumber() {
    assertThat(AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", "7")).xxh3Seed()).isEqualTo(7);
    assertThat(
            AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", "18446744073709551615")).xxh3Seed())
        .isEqualTo(-1);
  }

  @Test
  void shouldSayWhatIsWrong_whenConductorSeedIsNoNumber() {
    assertThatThrownBy(() -> AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", "abc")))
        .hasMessage("CONDUCTOR_SEED must be an unsigned 64-bit number, got abc");
  }
}
