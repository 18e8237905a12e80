// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class HelpTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    return commandLine.execute(arguments);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chaos", "drill"})
  void shouldExplainItself_whenAskedForHelp(String command) {
    assertThat(run(command, "--help")).isZero();
    assertThat(out.toString()).startsWith("Usage: testing/run.sh " + command).contains("(default:");
  }

  @Test
  void shouldSayWhatToGive_whenNothingIs() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("Missing required subcommand");
  }
}
