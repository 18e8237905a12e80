// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.apache.kafka.common.internals.Topic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemberNameTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:13333, 127.0.0.1, 13333",
    "index-1:80, index-1, 80",
    "index_1_4711:80, index_1_4711, 80",
    "kvindex-index-0.kvindex-index-peers:13333, kvindex-index-0.kvindex-index-peers, 13333",
    "[2001:db8::1]:65535, 2001:db8::1, 65535",
    "[fe80::1%eth0]:1, fe80::1%eth0, 1"
  })
  void shouldSayWhereTheProcessListens_asKafkaTakesIt(String address, String host, int port) {
    MemberName name = Objects.requireNonNull(MemberName.at(address));

    Topic.validate(name.text());
    assertThat(MemberName.of(name.text())).isEqualTo(name);
    assertThat(MemberName.of(name.text() + "-12")).as("of a stream thread").isEqualTo(name);
    assertThat(name.host()).isEqualTo(host);
    assertThat(name.port()).isEqualTo(port);
  }

  @Test
  void shouldBeAnotherAfterEachStart() {
    assertThat(MemberName.at("a:1")).isNotEqualTo(MemberName.at("a:1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a", ":1", "a:", "a:0", "a:65536", "a:123456", "a:b", "\u00fcber\u20ac:1"})
  void shouldNotBeMade_whenTheAddressCanNotBeSaid(String address) {
    assertThat(MemberName.at(address)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"kvindex", "index-7", "a_1", "a_99999_01234567", "a_1_0123456G", "_zz_1_01234567"})
  void shouldBeNothingOfOurs_whenASiteGaveTheName(String text) {
    assertThat(MemberName.of(text)).isNull();
  }
}
