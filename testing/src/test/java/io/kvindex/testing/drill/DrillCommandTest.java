// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(60)
class DrillCommandTest {

  private static final String NONE_RUNS = "[ \"$command\" != status ] || echo 'name pid state'";

  @TempDir private Path directory;

  private final StringWriter err = new StringWriter();

  private int run(StandInCluster cluster, String... more) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(new StringWriter()));
    commandLine.setErr(new PrintWriter(err, true));
    List<String> words =
        new ArrayList<>(
            List.of("drill", "--script", cluster.script().toString(), "--dir", "" + directory));
    words.addAll(List.of(more));
    return commandLine.execute(words.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--rounds 0|--rounds must be at least 1, got 0",
        "--operations 0|--operations must be at least 1, got 0",
        "--queries 0|--queries must be at least 1, got 0",
        "--instances 0|--instances must be at least 1, got 0",
        "--blocks 1023|--blocks must be at least 1024, got 1023",
        "--down -1|--down must be at least 0, got -1",
        "--outage -1|--outage must be at least 0, got -1",
        "--replay-batches 0|--replay-batches must be at least 1, got 0",
        "--outage 5 --rolling|--outage and --rolling are two drills: give one",
        "--only index-0|--only takes broker, bridge, index, broker-1 or pause, got index-0",
        "--only index,pauses|--only takes broker, bridge, index, broker-1 or pause, got pauses"
      })
  void shouldRefuseWhatMakesNoSense_beforeAnythingIsDone(String options, String message)
      throws IOException {
    StandInCluster cluster = StandInCluster.in(directory, NONE_RUNS);
    assertThat(run(cluster, options.split(" "))).isEqualTo(1);
    assertThat(err.toString()).contains(message);
    assertThat(cluster.commands()).isEmpty();
  }

  @Test
  void shouldSayWhereTheScriptIsToBeFound() {
    assertThat(run(new StandInCluster(directory))).isEqualTo(1);
    assertThat(err.toString()).contains("is no file: run deploy/drill.sh");
  }

  @Test
  void shouldFail_whenTheClusterDoesNotStart() throws IOException {
    StandInCluster cluster = StandInCluster.in(directory, "echo 'broker-1 is not ready'; exit 3");
    assertThat(run(cluster)).isEqualTo(1);
    assertThat(err.toString()).contains("local-cluster.sh start failed: broker-1 is not ready");
    assertThat(cluster.commands()).containsExactly("start");
  }

  /** Its staleness would be judged by promises its processes were not started for. */
  @Test
  void shouldRefuseAClusterOfOtherFlags() throws IOException {
    StandInCluster cluster = StandInCluster.in(directory, NONE_RUNS);
    cluster.remember("broker_args=--property broker.session.timeout.ms=700");
    assertThat(run(cluster)).isEqualTo(1);
    assertThat(err.toString()).contains("has the tuned flags: give --tuned");
    assertThat(cluster.commands()).containsExactly("status");
  }

  @Test
  void shouldRefuseToTuneAClusterThatRuns() throws IOException {
    StandInCluster cluster =
        StandInCluster.in(directory, "printf 'name pid state\\nbroker-1 12 ready 127.0.0.1:1\\n'");
    cluster.remember("broker_args=");
    assertThat(run(cluster, "--tuned")).isEqualTo(1);
    assertThat(err.toString()).contains("runs without the tuned flags: stop it first");
    assertThat(cluster.commands()).containsExactly("status");
  }
}
