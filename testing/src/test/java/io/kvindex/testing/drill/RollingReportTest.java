// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.HitRate.Count;
import io.kvindex.testing.drill.RollingRestart.Sample;
import io.kvindex.testing.drill.Staleness.Window;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RollingReportTest {

  private final StringWriter said = new StringWriter();

  private static Sample sample(int second, String doing, double share) {
    Count hits = share < 0 ? new Count(0, 0) : new Count(10_000, Math.round(share * 10_000));
    return new Sample(second, doing, hits, new Count(4, 3), 250_000_000, 0);
  }

  /** Quiet seconds with a hit rate of 0.98, and then those of a restart; negative: no answers. */
  private boolean print(double... shares) {
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < HitRateCurve.SECONDS; i++) {
      samples.add(sample(samples.size() + 1, RollingRestart.NOTHING, 0.98));
    }
    for (double share : shares) {
      samples.add(sample(samples.size() + 1, "index-1", share));
    }
    return RollingReport.print(samples, new PrintWriter(said, true));
  }

  @Test
  void shouldPrintEachSecondAndEachRestart() {
    assertThat(print(0.92, 0.95, 1)).isTrue();
    String line = System.lineSeparator();
    assertThat(said.toString())
        .contains("index-1       10000   0.9200   0.7500   0.3 s " + "#".repeat(46) + line)
        .contains("nothing          10   0.9800   0.9800   0.7500    0.3 s" + line)
        .contains("index-1           3   0.9567   0.9200   0.7500    0.3 s" + line)
        .contains("lowest 0.9710 (from second 3, nothing), 0.9800 while nothing was restarted")
        .contains("; it never dropped" + line);
  }

  @Test
  void shouldBreakThePromise_whenTenSecondsAreBelowTheQuietOnes() {
    assertThat(print(0.9, 0.89, 0.97, 0.97, 0.97)).isFalse();
    assertThat(said.toString())
        .contains("lowest 0.9600 (from second 6, nothing), 0.9800 while nothing was restarted")
        .contains("; IT DROPPED in 4 of 6 windows");
  }

  @Test
  void shouldBreakIt_whenNothingWasCounted() {
    double[] none = new double[HitRateCurve.SECONDS];
    Arrays.fill(none, -1);
    assertThat(print(none)).isFalse();
    assertThat(RollingReport.print(List.of(), new PrintWriter(said, true))).isFalse();
    assertThat(said.toString()).contains("NOTHING WAS COUNTED").doesNotContain("never dropped");
  }

  @Test
  void shouldTellWhenAReplicaWasBehind() {
    RollingReport.windows(
        new RollingRestart.Result(
            List.of(),
            List.of(),
            5_000_000_000L,
            List.of(
                new Window("index-2", 7_500_000_000L, 9_000_000_000L, 1_300_000_000, "drill-3"))),
        new PrintWriter(said, true));
    assertThat(said.toString()).contains("   2.5  index-2 for 1.3 s, drill-3");
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
              new Sample(3, "index-1", new Count(40, 30), new Count(8, 4), 700_000_000, 2),
              new Sample(4, "index-2", new Count(0, 0), new Count(0, 0), 0, 0)),
          journal);
    }
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "{\"type\":\"hit_rate\",\"second\":3,\"restarting\":\"index-1\",\"blocks\":40,\"hit_rate\":0.75,\"told_of\":0.5,\"oldest_missing_ms\":700,\"failed\":2}",
            "{\"type\":\"hit_rate\",\"second\":4,\"restarting\":\"index-2\",\"blocks\":0,\"hit_rate\":null,\"told_of\":null,\"oldest_missing_ms\":0,\"failed\":0}");
  }
}
