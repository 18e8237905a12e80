// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ContextHashTest {

  @Test
  void shouldBeZero_whenNothingIsNamed() {
    assertThat(ContextHash.of(null, "", null)).isEqualTo(ContextHash.NONE);
  }

  @Test
  void shouldDiffer_whenTheSameTextStandsInAnotherPlace() {
    String[] names = {"", "a", "b", "ab", "1"};
    Set<Long> seen = new HashSet<>();
    for (String lora : names) {
      for (String namespace : names) {
        for (String salt : names) {
          assertThat(seen.add(ContextHash.of(lora, namespace, salt)))
              .as(lora + "/" + namespace + "/" + salt)
              .isTrue();
        }
      }
    }
  }

  @Test
  void shouldKeepTheContext_whenThereAreNoExtraKeys() {
    assertThat(ContextHash.withExtra(42, 0)).isEqualTo(42);
    assertThat(ContextHash.withExtra(42, 7))
        .isNotEqualTo(42)
        .isNotEqualTo(ContextHash.withExtra(0, 7));
  }
}
