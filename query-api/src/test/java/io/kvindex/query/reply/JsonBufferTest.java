// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class JsonBufferTest {

  @Test
  void shouldWriteNumbersAsJavaDoes_whateverTheirLength() {
    Random random = new Random(1);
    for (long power = 1, digits = 1; digits <= 19; power *= 10, digits++) {
      for (long near = -2; near <= 2; near++) {
        expect(power + near);
        expect(-(power + near));
      }
    }
    expect(Long.MAX_VALUE);
    expect(Long.MIN_VALUE);
    for (int i = 0; i < 100_000; i++) {
      expect(random.nextLong() >> random.nextInt(64));
    }
  }

  private static void expect(long number) {
    assertThat(new JsonBuffer().number(number).asText()).isEqualTo(Long.toString(number));
  }
}
