// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.launcher.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ReplayCommandTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--swap",
        "--swap --exit",
        "--swap --swap-wait 5",
        "--swap-wait 5 --swap",
        "--advertise h:1 --standbys 2 --full-replicas --rack a --swap",
        "--although-cut"
      })
  void shouldSayWhatIsDoneInstead_whenToldToSwap(String flags) {
    StringWriter err = new StringWriter();
    CommandLine commandLine = Main.commandLine().setErr(new PrintWriter(err, true));
    String line = "replay --kafka localhost:1 --from beginning " + flags;
    assertThat(commandLine.execute(line.split(" "))).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).contains("are gone", "--http-port", "kvindex diff");
  }
}
