// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.launcher.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ReplayCommandTest {

  @Test
  void shouldRefuse_whenToldToServeAndToEndBeforeThat() {
    StringWriter err = new StringWriter();
    CommandLine commandLine = Main.commandLine().setErr(new PrintWriter(err, true));
    int code =
        commandLine.execute(
            "replay", "--kafka", "localhost:1", "--from", "beginning", "--swap", "--exit");
    assertThat(code).isNotZero();
    assertThat(err.toString()).contains("--exit and --swap exclude each other");
  }
}
