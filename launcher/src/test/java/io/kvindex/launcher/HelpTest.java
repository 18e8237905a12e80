// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

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
  @ValueSource(
      strings = {
        "demo",
        "all",
        "broker",
        "bridge",
        "index",
        "register",
        "unregister",
        "query",
        "workers",
        "quarantine list",
        "repair",
        "ingest",
        "tap"
      })
  void shouldExplainItself_whenAskedForHelp(String command) {
    assertThat(run((command + " --help").split(" "))).isZero();
    assertThat(out.toString()).startsWith("Usage: kvindex " + command).contains("(default:");
  }

  @Test
  void shouldListEveryCommand_whenAskedForHelp() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString())
        .contains("demo", "all", "broker", "bridge", "index", "register", "query", "tap");
  }

  @Test
  void shouldSayWhatToDo_whenNobodyAnswers() {
    assertThat(run("query", "--server", "http://127.0.0.1:1", "--model", "m", "--tokens", "1,2"))
        .isEqualTo(1);
    assertThat(err.toString())
        .contains("nobody answers at http://127.0.0.1:1", "kvindex all", "--server");
  }

  @Test
  void shouldNameTheOption_whenOneIsMissing() {
    assertThat(run("register", "--instance", "a")).isEqualTo(2);
    assertThat(err.toString()).contains("Missing required options", "--endpoint");
  }
}
