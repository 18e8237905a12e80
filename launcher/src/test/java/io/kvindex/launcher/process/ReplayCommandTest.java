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
        "--swap; kvindex diff",
        "--swap-wait 5; kvindex diff",
        "--although-cut; kvindex diff",
        "--app mine; --copy NAME",
        "--anew; kvindex forget --copy NAME",
        "--standbys 2; Leave the flag out",
        "--full-replicas; Leave the flag out",
        "--rack a; Leave the flag out"
      })
  void shouldSayWhatIsDoneInstead_whenAFlagIsGone(String flagAndAdvice) {
    String[] parts = flagAndAdvice.split("; ");
    StringWriter err = new StringWriter();
    CommandLine commandLine = Main.commandLine().setErr(new PrintWriter(err, true));
    String line = "replay --kafka localhost:1 --from beginning " + parts[0];
    assertThat(commandLine.execute(line.split(" "))).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).contains("are gone", parts[1]);
  }
}
