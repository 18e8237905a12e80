// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

  @ParameterizedTest
  @CsvSource({
    "tcp://10.0.0.1:5557,              10.0.0.1",
    "tcp://[::1]:5557,                 0:0:0:0:0:0:0:1",
    "tcp://[2001:db8::7]:65535,        2001:db8:0:0:0:0:0:7",
    "tcp://[::ffff:10.0.0.1]:1,        10.0.0.1",
    "tcp://0.0.0.0:5557,               127.0.0.1",
    "tcp://[::]:5557,                  0:0:0:0:0:0:0:1 127.0.0.1",
    "tcp://[0:0:0:0:0:0:0:0]:5557,     0:0:0:0:0:0:0:1 127.0.0.1",
  })
  void shouldNeedNoLookup_whenTheHostIsAnAddress(String text, String addresses) {
    Endpoint endpoint = Endpoint.parse(text);
    assertThat(endpoint.isName()).isFalse();
    assertThat(endpoint.isBound()).isFalse();
    assertThat(endpoint.addresses().stream().map(InetAddress::getHostAddress))
        .containsExactly(addresses.split(" "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tcp://localhost:5557",
        "tcp://vllm-0.vllm.llm.svc.cluster.local:5557",
        "tcp://engine.example.com.:5557",
        "tcp://my_engine:5557",
        "tcp://10-0-0-1:5557",
        "tcp://1.2.3.4.example:5557",
        "tcp://[fe80::1%eth9]:5557",
      })
  void shouldLeaveTheLookupToOthers_whenTheHostIsAName(String text) {
    Endpoint endpoint = Endpoint.parse(text);
    assertThat(endpoint.isName()).isTrue();
    assertThat(endpoint.addresses()).isEmpty();
    assertThat(endpoint.port()).isEqualTo(5557);
  }

  @Test
  void shouldBind_whenTheHostIsAStar() {
    assertThat(Endpoint.parse("tcp://*:5557"))
        .isEqualTo(new Endpoint("*", 5557, List.of()))
        .matches(Endpoint::isBound);
    assertThatThrownBy(() -> Endpoint.parseReplay("tcp://*:5558"))
        .hasMessageContaining("tcp://HOST:5558");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          bogus                      ~ tcp://HOST:PORT
          tcp://                     ~ the port is missing
          tcp://h                    ~ the port is missing
          tcp://[::1]                ~ the port is missing
          tcp://:5557                ~ the host is empty
          tcp://h:                   ~ 1 to 65535
          tcp://h:0                  ~ 1 to 65535
          tcp://h:00                 ~ 1 to 65535
          tcp://h:65536              ~ 1 to 65535
          tcp://h:-1                 ~ 1 to 65535
          tcp://h:*                  ~ 1 to 65535
          tcp://*:*                  ~ 1 to 65535
          tcp://*:0                  ~ 1 to 65535
          tcp://h:5557/x             ~ 1 to 65535
          tcp://::1:5557             ~ tcp://[ADDRESS]:PORT
          tcp://[h]:5557             ~ no IP address
          tcp://[]:5557              ~ no IP address
          tcp://[1.2.3.4]:5557       ~ no IP address
          tcp://[::1::2]:5557        ~ no IP address
          tcp://[::1]x:5557          ~ tcp://[ADDRESS]:PORT
          tcp://256.0.0.1:5557       ~ no IP address
          tcp://1.2.3:5557           ~ no IP address
          tcp://127:5557             ~ no IP address
          tcp://host.1:5557          ~ no IP address
          tcp://255.255.255.255:5557 ~ nobody can be connected to
          tcp://224.0.0.1:5557       ~ nobody can be connected to
          tcp://240.0.0.1:5557       ~ nobody can be connected to
          tcp://0.0.0.1:5557         ~ nobody can be connected to
          tcp://[ff02::1]:5557       ~ nobody can be connected to
          tcp://[ff02::1%eth0]:5557  ~ nobody can be connected to
          tcp://a b:5557             ~ no host has
          tcp://a;b:5557             ~ no host has
          tcp://eth*:5557            ~ no host has
          tcp://a..b:5557            ~ no host has
          tcp://-a:5557              ~ no host has
          tcp://ü:5557               ~ no host has
          TCP://h:5557               ~ unknown transport `TCP`
          udp://h:5557               ~ unknown transport `udp`
          http://h:5557              ~ unknown transport `http`
          ipc:///tmp/kv              ~ tcp://127.0.0.1:PORT
          ipc://@kv                  ~ tcp://127.0.0.1:PORT
          inproc://events            ~ tcp://127.0.0.1:PORT
          """)
  void shouldSayWhatToWrite_whenThereIsNoSuchAddress(String text, String why) {
    assertThatThrownBy(() -> Endpoint.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
    assertThatThrownBy(() -> Endpoint.parseReplay(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldRefuseTheName_whenItIsTooLong() {
    String label = "a".repeat(63);
    Endpoint.parse("tcp://" + label + "." + label + ":1");
    assertThatThrownBy(() -> Endpoint.parse("tcp://a" + label + ":1"))
        .hasMessageContaining("length");
    assertThatThrownBy(() -> Endpoint.parse("tcp://" + "a.".repeat(127) + "b:1"))
        .hasMessageContaining("length");
  }
}
