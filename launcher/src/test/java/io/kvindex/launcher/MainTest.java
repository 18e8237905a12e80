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
}
