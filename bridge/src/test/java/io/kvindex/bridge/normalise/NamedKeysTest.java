// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamedKeysTest {

  @Test
  void shouldForgetTheLeastUsed_whenThereAreTooMany() {
    NamedKeys keys = new NamedKeys(true);
    for (int i = 0; i < NamedKeys.MOST; i++) {
      keys.learn("key " + i, i);
    }
    assertThat(keys.hash("key 0")).isZero();
    assertThat(keys.isComplete()).isTrue();
    keys.learn("one more", 7);
    assertThat(keys.isComplete()).isFalse();
    assertThat(keys.hash("key 0")).as("asked for lately").isZero();
    assertThat(keys.hash("key 1")).isNull();
    keys.forgetAll();
    assertThat(keys.isComplete()).isTrue();
    assertThat(keys.hash("one more")).isNull();
  }

  @Test
  void shouldKeepTextBounded_whenKeysAreLong() {
    NamedKeys keys = new NamedKeys(true);
    int fit = NamedKeys.MOST_CHARS / 4_096;
    for (int i = 0; i < fit; i++) {
      keys.learn(longKey(i), i);
      keys.learn(longKey(i), i);
    }
    assertThat(keys.hash(longKey(0))).isZero();
    keys.forget(longKey(0));
    keys.forget(longKey(0));
    keys.learn(longKey(fit), fit);
    assertThat(keys.isComplete()).as("it took the place of one that is gone").isTrue();
    keys.learn(longKey(fit + 1), fit);
    assertThat(keys.isComplete()).isFalse();
    assertThat(keys.hash(longKey(1))).isNull();
    assertThat(keys.hash(longKey(2))).isEqualTo(2);
  }

  private static String longKey(int number) {
    return String.format("%04096d", number);
  }
}
