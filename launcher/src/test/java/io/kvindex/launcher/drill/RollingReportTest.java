// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.launcher.drill.HitRate.Count;
import io.kvindex.launcher.drill.RollingRestart.Sample;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RollingReportTest {

  private final StringWriter said = new StringWriter();

  /** While nothing is restarted; a negative share: a second in which nothing was counted. */
  private static final double[] QUIET = {1, 0.9, -1, 0.95};

  private boolean print(double... shares) {
    List<Sample> samples = new ArrayList<>();
    for (double share : QUIET) {
      samples.add(sample(samples.size() + 1, RollingRestart.NOTHING, share));
    }
    for (double share : shares) {
      samples.add(sample(samples.size() + 1, "index-1", share));
    }
    return RollingReport.print(samples, new PrintWriter(said, true));
  }

  private static Sample sample(int second, String doing, double share) {
    Count hits = share < 0 ? new Count(0, 0) : new Count(10_000, Math.round(share * 10_000));
    return new Sample(second, doing, hits, new Count(4, 3), 0);
  }

  @Test
  void shouldKeepThePromise_whenNoSecondIsBelowTheQuietOnes() {
    assertThat(print(0.9, 0.95, 1, 0.9)).isTrue();
    assertThat(said.toString())
        .contains("lowest hit rate 0.9000, 0.9000 while nothing was restarted; it never dropped")
        .contains(
            "index-1       10000   0.9000   0.7500 " + "#".repeat(45) + System.lineSeparator());
  }

  @Test
  void shouldBreakIt_whenOneIs() {
    assertThat(print(1, 0.8999, 1, 0.8)).isFalse();
    assertThat(said.toString())
        .contains("lowest hit rate 0.8000, 0.9000 while nothing was restarted")
        .contains("IT DROPPED in 2 of 8 seconds")
        .containsPattern("(?m)^ +8 .* 0\\.8000 .*#{40} {2}DROPPED$");
  }

  @Test
  void shouldPassOverASecondInWhichNothingWasCounted() {
    assertThat(print(0.9, -1, 0.9)).isTrue();
    assertThat(print(0.9, -1, 0.8)).as("it hides no drop").isFalse();
  }

  @Test
  void shouldBreakIt_whenNothingWasCounted() {
    List<Sample> samples = List.of(sample(1, RollingRestart.NOTHING, -1), sample(2, "index-1", -1));
    assertThat(RollingReport.print(samples, new PrintWriter(said, true))).isFalse();
    assertThat(RollingReport.print(List.of(), new PrintWriter(said, true))).isFalse();
    assertThat(said.toString()).contains("NOTHING WAS COUNTED").doesNotContain("never dropped");
  }

  private boolean answers(Tally... tallies) {
    return RollingReport.answers(List.of(tallies), new PrintWriter(said, true));
  }

  @Test
  void shouldSumUpAllRestarts() {
    Tally retried = Drills.good(10, 5);
    retried.retried.set(3);
    retried.slow.set(2);
    assertThat(answers(Drills.good(20, 5), retried, Drills.good(30, 5))).isTrue();
    assertThat(said.toString()).contains("60 queries: 0 failed, 0 wrong, 0 late, 0 refused");
  }

  static Stream<Consumer<Tally>> shouldBreakIt_whenOneAnswerOfAnyRestartWasNotAsPromised() {
    return Stream.of(
        tally -> tally.failed.incrementAndGet(),
        tally -> tally.wrong.incrementAndGet(),
        tally -> tally.late.incrementAndGet(),
        tally -> tally.refused.incrementAndGet());
  }

  @ParameterizedTest
  @MethodSource
  void shouldBreakIt_whenOneAnswerOfAnyRestartWasNotAsPromised(Consumer<Tally> bad) {
    for (int number = 0; number < 3; number++) {
      Tally[] tallies = {Drills.good(10, 5), Drills.good(10, 5), Drills.good(10, 5)};
      bad.accept(tallies[number]);
      assertThat(answers(tallies)).as("restart %d", number).isFalse();
      assertThat(said.toString()).contains(" 1 ");
    }
  }

  @Test
  void shouldBreakIt_whenNothingWasAsked() {
    assertThat(answers(new Tally(), new Tally())).isFalse();
  }

  @Test
  void shouldWriteEachSecond(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("report");
    try (DrillJournal journal =
        new DrillJournal(new PrintWriter(said), 1, file, /* verbose= */ true)) {
      RollingReport.write(
          List.of(
              new Sample(3, "index-1", new Count(40, 30), new Count(8, 4), 2),
              new Sample(4, "index-2", new Count(0, 0), new Count(0, 0), 0)),
          journal);
    }
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "{\"type\":\"hit_rate\",\"second\":3,\"restarting\":\"index-1\",\"blocks\":40,\"hit_rate\":0.75,\"told_of\":0.5,\"failed\":2}",
            "{\"type\":\"hit_rate\",\"second\":4,\"restarting\":\"index-2\",\"blocks\":0,\"hit_rate\":null,\"told_of\":null,\"failed\":0}");
  }
}
