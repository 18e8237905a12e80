// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaAddressTest {

  @ParameterizedTest
  @CsvSource({
    "index-0:8080, index-0:8080",
    "index-0, index-0:13333",
    "10.0.0.7:1, 10.0.0.7:1",
    "[fd00::7]:8080, [fd00::7]:8080",
    "[fd00::7], [fd00::7]:13333",
    "fd00::7, [fd00::7]:13333"
  })
  void shouldTakeWhatTheFlagSays_andTheHttpPortWhereItHasNone(String flag, String advertised) {
    assertThat(ReplicaAddress.of(flag, "0.0.0.0", 13333)).isEqualTo(advertised);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0.0.0.0:80", "[::]:80", "::", "h:0", "h:65536", "h:http", ":80", "h:", "0:80"})
  void shouldRefuse_whatOthersCouldNotReach(String flag) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ReplicaAddress.of(flag, "127.0.0.1", 13333))
        .withMessageContaining("--advertise")
        .withMessageContaining("`" + flag + "`");
  }

  @Test
  void shouldBeTheAddressListenedOn_whenTheFlagSaysNothing() {
    assertThat(ReplicaAddress.of(null, "127.0.0.1", 80)).isEqualTo("127.0.0.1:80");
    assertThat(ReplicaAddress.of(null, "::1", 80)).isEqualTo("[::1]:80");
    assertThat(ReplicaAddress.of(null, "index-0", 80)).isEqualTo("index-0:80");
  }

  /** What it is depends on the machine; a wildcard it never is. */
  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "[::]"})
  void shouldBeTheMachinesOwnAddressOrNone_whenListeningEverywhere(String bind) throws Exception {
    String address;
    try {
      address = ReplicaAddress.of(null, bind, 80);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("--advertise");
      return;
    }
    assertThat(address).endsWith(":80");
    String host = address.substring(0, address.length() - 3);
    assertThat(InetAddress.getByName(host).isAnyLocalAddress()).isFalse();
  }

  @Test
  void shouldChooseAPortThatIsFree_whenItIs0() throws Exception {
    assertThat(ReplicaAddress.portOn("127.0.0.1", 13333)).isEqualTo(13333);
    int port = ReplicaAddress.portOn("127.0.0.1", 0);
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress("127.0.0.1", port));
      assertThat(socket.getLocalPort()).isEqualTo(port).isPositive();
    }
  }
}
