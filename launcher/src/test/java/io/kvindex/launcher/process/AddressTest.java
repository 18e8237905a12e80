// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AddressTest {

  @Test
  void shouldPutBracketsAroundIpv6_whenItHasNone() {
    assertThat(Address.of("::1", 1)).isEqualTo("[::1]:1");
    assertThat(Address.of("[::1]", 1)).isEqualTo("[::1]:1");
    assertThat(Address.http("::1", 13333)).hasHost("[::1]").hasPort(13333);
  }

  @Test
  void shouldLeaveNamesAndIpv4Alone() {
    assertThat(Address.of("127.0.0.1", 1)).isEqualTo("127.0.0.1:1");
    assertThat(Address.http("index-1", 80)).hasHost("index-1").hasPort(80);
  }
}
