// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrillOptionsTest {

  /** As the help says; what is allowed beyond would be a promise that is not kept and not seen. */
  @ParameterizedTest
  @CsvSource({
    "false, false, 0, 1, 8000, 300",
    "true, false, 0, 1, 4000, 300",
    "false, true, 0, 10, 120000, 120000",
    "true, true, 0, 10, 120000, 120000",
    "false, false, 300, 1, 420000, 300",
    "true, false, 300, 1, 420000, 300",
    "false, true, 300, 10, 420000, 120000"
  })
  void shouldAllow(
      boolean tuned, boolean untimed, int outage, int timeout, long staleMs, long p99Ms) {
    DrillOptions options = Drills.options(Path.of("s"), Path.of("d"), tuned, untimed, outage);
    assertThat(options.requestTimeout()).isEqualTo(Duration.ofSeconds(timeout));
    assertThat(options.allowedStaleMs()).isEqualTo(staleMs);
    assertThat(options.allowedP99Ms()).isEqualTo(p99Ms);
  }
}
