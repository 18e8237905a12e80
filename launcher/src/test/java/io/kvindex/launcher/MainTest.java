// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Security;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("settings of the JVM")
class MainTest {

  private static final String KEPT = "networkaddress.cache.ttl";
  private static final String NONE = "networkaddress.cache.negative.ttl";

  @AfterEach
  void shorten() {
    Security.setProperty(KEPT, "1");
    Security.setProperty(NONE, "1");
  }

  /** As JDK 17 has it: nothing said of the first, 10 s for the second. */
  @Test
  void shouldAskForAddressesAgainSoon() {
    Security.setProperty(NONE, "10");
    Main.forgetAddressesSoon();
    assertThat(Security.getProperty(KEPT)).isEqualTo("1");
    assertThat(Security.getProperty(NONE)).isEqualTo("1");
  }

  @Test
  void shouldLeaveWhatTheSiteSays() {
    Security.setProperty(KEPT, "60");
    Security.setProperty(NONE, "5");
    Main.forgetAddressesSoon();
    assertThat(Security.getProperty(KEPT)).isEqualTo("60");
    assertThat(Security.getProperty(NONE)).isEqualTo("5");
  }
}
