// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MainTest {

  private static final String KEPT = "networkaddress.cache.ttl";
  private static final String NONE = "networkaddress.cache.negative.ttl";

  private static Map<String, String> settings(Map<String, String> said) {
    Map<String, String> settings = new HashMap<>(said);
    Main.forgetAddressesSoon(settings::get, settings::put);
    return settings;
  }

  /** As JDK 17 has it: nothing said of the first, 10 s for the second. */
  @Test
  void shouldAskForAddressesAgainSoon() {
    assertThat(settings(Map.of(NONE, "10"))).isEqualTo(Map.of(KEPT, "1", NONE, "1"));
  }

  @Test
  void shouldLeaveWhatTheSiteSays() {
    Map<String, String> site = Map.of(KEPT, "60", NONE, "5");
    assertThat(settings(site)).isEqualTo(site);
  }

  /** As Kafka's clients say it. */
  @Test
  void shouldSayWhy_whenTheReasonLiesBeneath() {
    Exception reason = new IllegalArgumentException("the heartbeat has to be shorter");
    assertThat(Main.text(new IllegalStateException("no consumer", reason)))
        .isEqualTo("no consumer: the heartbeat has to be shorter");
    assertThat(Main.text(new IllegalStateException(reason.getMessage() + ", said A", reason)))
        .as("once")
        .isEqualTo("the heartbeat has to be shorter, said A");
    assertThat(Main.text(new IllegalStateException(reason))).endsWith(reason.getMessage());
    assertThat(Main.text(new IllegalStateException())).isEqualTo("java.lang.IllegalStateException");
  }
}
