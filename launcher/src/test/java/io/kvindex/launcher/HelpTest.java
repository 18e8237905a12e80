// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
        "diff",
        "replay",
        "forget",
        "query-at",
        "repair",
        "backup",
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

  @Test
  void shouldSayLittleMoreThanWhatIsWrong_whenAnOptionIs() {
    assertThat(run("quarantine", "list", "--limt", "3")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("kvindex quarantine list: Unknown option")
        .contains("--limit") // a guess at what was meant
        .endsWith("Try 'kvindex quarantine list --help'." + System.lineSeparator());
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void shouldSayWhereItIs_whenACommandIsGone() {
    assertThat(run("chaos", "--seeds", "1-3")).isEqualTo(2);
    assertThat(err.toString()).contains("testing/run.sh chaos");
    run("--help");
    assertThat(out.toString()).doesNotContain("chaos");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo --requests 0",
        "demo --engines 0",
        "demo --speed 0",
        "demo --speed NaN",
        "demo --gpu-blocks 0",
        "demo --host-blocks -1",
        "demo --trace /nonexistent",
        "all --config /nonexistent",
        "all --workers 1=tcp://h:1",
        "all --peers bogus",
        "all --trace-one-in -1",
        "index --peers ftp://h",
        "index --kafka , --data-dir target/help",
        "index --borrow-from /nonexistent",
        "index --borrow-from ftp://h",
        "backup --from h:1 --to /nonexistent/backup",
        "replay --from yesterday",
        "query-at noon --model m --tokens 1",
        "workers --server bogus",
        "workers --server 127.0.0.1:13333"
      })
  @Timeout(30)
  void shouldNameTheOption_whenItsValueCanNotBe(String line) {
    String[] arguments = line.split(" ");
    assertThat(run(arguments)).isEqualTo(1);
    String value = arguments[2].split("=")[0];
    assertThat(err.toString()).startsWith("kvindex " + arguments[0] + ": ").hasLineCount(1);
    assertThat(err.toString()).containsAnyOf(arguments[1], value);
    assertThat(out.toString()).as("nothing was started").isEmpty();
  }
}
