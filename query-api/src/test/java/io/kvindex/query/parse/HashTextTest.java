// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HashTextTest {

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "-0,0",
    "00000000000000000007,7",
    "18446744073709551615,-1",
    "9223372036854775808,-9223372036854775808",
    "-9223372036854775808,-9223372036854775808",
    "0x0,0",
    "0XfF,255",
    "0xFFFFFFFFFFFFFFFF,-1",
  })
  void shouldTellTheBits_whenItIsANumberOf64Bits(String text, long bits) {
    assertThat(HashText.parse(text)).isEqualTo(bits);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "0x",
        "0x-1",
        "0x00000000000000000",
        "ff",
        "+1",
        " 1",
        "1.0",
        "18446744073709551616",
        "-9223372036854775809",
        "-00000000000000000000",
        "000000000000000000000",
        "\u0661",
        "0x\uff11",
      })
  void shouldTellNothing_whenItIsNone(String text) {
    assertThat(HashText.parse(text)).isNull();
  }
}
