// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.launcher.Main;
import io.kvindex.streams.CopyConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Each flag comes to where it is meant for. */
class ReplicaOptionsTest {

  @TempDir private Path directory;

  private static ReplicaOptions options(String... flags) {
    return CommandLine.populateCommand(new ReplicaOptions(), flags);
  }

  private CopyConfig config(String... flags) throws IOException {
    return options(flags)
        .applyTo(Map.of("bootstrap.servers", "localhost:1"), directory, "127.0.0.1", 13333);
  }

  @Test
  void shouldKeepANameOfItsOwn_whenNobodyNamesTheCopy() throws IOException {
    String name = config().copy();
    assertThat(name).startsWith("index-");
    assertThat(config().copy()).as("after a restart").isEqualTo(name);
    assertThat(config("--copy", "b").copy()).isEqualTo("b");
    assertThat(config().copy()).isEqualTo(name);
  }

  @Test
  void shouldSayWhereItIs() throws IOException {
    assertThat(config().advertise()).isEqualTo("127.0.0.1:13333");
    assertThat(config("--advertise", "index-0.peers").advertise()).isEqualTo("index-0.peers:13333");
    assertThat(config().directory()).isEqualTo(directory);
  }

  @Test
  void shouldSayHowOldAnAnswerMayBe_andHowLongItGoesOn() throws IOException {
    assertThat(config().maxLag()).isEqualTo(Duration.ofSeconds(2));
    assertThat(config("--max-lag", "500").maxLag()).isEqualTo(Duration.ofMillis(500));
    assertThat(options().drain()).isEqualTo(Duration.ofSeconds(3));
    assertThat(options("--drain", "10").drain()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void shouldNameTheFlag_whenItCanNotBeUsed() {
    assertThatThrownBy(() -> options("--drain", "-1").drain()).hasMessageContaining("--drain");
    assertThatThrownBy(() -> config("--copy", "a b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("`a b`");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--standbys", "--full-replicas", "--copy-delay", "--rack", "--instance-name"})
  void shouldSayTheNewWay_whenAFlagIsGone(String flag) {
    StringWriter err = new StringWriter();
    CommandLine program = Main.commandLine().setErr(new PrintWriter(err, true));
    assertThat(program.execute("index", flag, "1")).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(program.execute("index", flag + "=1")).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString().lines().filter(line -> line.contains("are gone")))
        .hasSize(2)
        .allMatch(line -> line.contains(flag) && line.contains("--copy"));
  }

  @Test
  void shouldSayTheNewWay_whenAVariableIsGone() {
    assertThatThrownBy(() -> Gone.check(Map.of("KVINDEX_RACK", "a")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("KVINDEX_RACK")
        .hasMessageContaining("--copy");
    Gone.check(Map.of("KVINDEX_RACK", " ", "KVINDEX_COPY", "a"));
  }
}
