// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static io.kvindex.testing.drill.Drills.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DrillReportTest {

  private static final Fault FAULT = new Fault(Fault.Kind.INDEX, "index-1", 3_000);
  private static final RoundCheck.Result EQUAL = new RoundCheck.Result(1, 4, 2, 100, 50, List.of());

  private final StringWriter said = new StringWriter();
  private final DrillReport report = new DrillReport(Drills.options(), new PrintWriter(said, true));

  private static FaultResult result(Tally tally) {
    Staleness.Window window = new Staleness.Window("index-1", ms(1_500), ms(4_000), ms(2_500), "x");
    return new FaultResult(2, FAULT, ms(1_000), 5_000, 9_000, ms(2_500), List.of(window), tally);
  }

  /** Each number is another one, so that none can stand in the other's place. */
  private static Tally counted() {
    Tally tally = new Tally();
    tally.queries.set(100);
    tally.failed.set(11);
    tally.wrong.set(12);
    tally.late.set(13);
    tally.refused.set(14);
    tally.slow.set(15);
    tally.retried.set(16);
    tally.saidStale.set(17);
    tally.saidDegraded.set(18);
    tally.rows.set(19);
    tally.hits.set(20);
    for (int i = 1; i <= 200; i++) {
      tally.latencies.add(ms(i));
    }
    tally.survivors.add(ms(40));
    return tally;
  }

  private String line(int number) {
    return said.toString().lines().toList().get(number).strip().replaceAll(" +", " ");
  }

  @Test
  void shouldPrintEachNumberUnderItsName() {
    report.faults(List.of(result(counted()), result(Drills.good(7, 30))));
    assertThat(line(0))
        .isEqualTo(
            "round fault down s ready queries failed wrong late refused slow retried stale s p50 ms p99 ms max ms others");
    assertThat(line(1))
        .isEqualTo(
            "2 kill -9 index-1 3.0 5.0 100 11 12 13 14 15 16 2.5 100.0 198.0 200.0 40.0 BROKEN");
    assertThat(line(2)).isEqualTo("2 kill -9 index-1 3.0 5.0 7 0 0 0 0 0 0 2.5 30.0 30.0 30.0 0.0");
  }

  @Test
  void shouldPrintWindowsFromTheFaultOn() {
    report.windows(List.of(result(new Tally())));
    assertThat(line(2))
        .isEqualTo("2 kill -9 index-1 index-1 for 2.5 s, from 0.5 s behind the fault on, x");
    report.windows(List.of());
    assertThat(said.toString()).endsWith("none" + System.lineSeparator());
  }

  @Test
  void shouldNameWhatIsNotEqual() {
    report.check(EQUAL);
    report.check(new RoundCheck.Result(2, 4, 2, 100, 50, List.of("digests differ")));
    assertThat(line(0))
        .isEqualTo(
            "round 1 at rest: digests of 4 owners on at least 2 replicas, 100 blocks, 50 rows compared: all equal");
    assertThat(line(1)).endsWith("[digests differ]").doesNotContain("all equal");
  }

  @Test
  void shouldWriteEachNumberUnderItsName() {
    assertThat(DrillReport.json(result(counted()), /* kept= */ false))
        .hasToString(
            "{\"queries\":100,\"failed\":11,\"wrong\":12,\"late\":13,\"refused_by_survivors\":14,\"slow_survivors\":15,"
                + "\"retried\":16,\"said_stale\":17,\"said_degraded\":18,\"rows\":19,\"rows_with_hits\":20,"
                + "\"p50_ms\":100.0,\"p99_ms\":198.0,\"max_ms\":200.0,\"survivors_p99_ms\":40.0,"
                + "\"type\":\"fault\",\"round\":2,\"fault\":\"kill -9 index-1\",\"down_ms\":3000,\"ready_ms\":5000,"
                + "\"calm_ms\":9000,\"stale_ms\":2500,\"kept\":false,"
                + "\"windows\":[{\"replica\":\"index-1\",\"from_ms\":500,\"length_ms\":2500,\"missing\":\"x\"}]}");
    assertThat(DrillReport.json(EQUAL))
        .hasToString(
            "{\"type\":\"at_rest\",\"round\":1,\"owners\":4,\"copies\":2,\"blocks\":100,\"rows\":50,\"problems\":[]}");
  }

  private boolean verdict(Tally during, Tally between, RoundCheck.Result check) {
    return report.verdict(
        List.of(result(Drills.good(9, 30)), result(during)),
        List.of(between),
        List.of(EQUAL, check));
  }

  @Test
  void shouldKeepThePromise_whenAllWasAsPromised() {
    assertThat(verdict(Drills.good(9, 30), Drills.good(9, 30), EQUAL)).isTrue();
    assertThat(line(0)).isEqualTo("every promise was kept");
  }

  static Stream<Consumer<Tally>> shouldBreakIt_whenOneAnswerWasNotAsPromised() {
    return Stream.of(
        tally -> tally.failed.incrementAndGet(),
        tally -> tally.wrong.incrementAndGet(),
        tally -> tally.late.incrementAndGet(),
        tally -> tally.refused.incrementAndGet());
  }

  @ParameterizedTest
  @MethodSource
  void shouldBreakIt_whenOneAnswerWasNotAsPromised(Consumer<Tally> bad) {
    Tally tally = Drills.good(9, 30);
    bad.accept(tally);
    assertThat(verdict(tally, Drills.good(9, 30), EQUAL)).as("amid a fault").isFalse();
    assertThat(verdict(Drills.good(9, 30), tally, EQUAL)).as("between two").isFalse();
    assertThat(said.toString()).contains("PROMISES WERE BROKEN").doesNotContain("kept");
  }

  @Test
  void shouldBreakIt_whenSomethingDiffersAtRest() {
    RoundCheck.Result differs = new RoundCheck.Result(1, 4, 2, 100, 50, List.of("digests differ"));
    assertThat(verdict(Drills.good(9, 30), Drills.good(9, 30), differs)).isFalse();
  }

  @Test
  void shouldBreakIt_whenAFailOverWasTooSlow() {
    assertThat(verdict(Drills.good(9, 301), Drills.good(9, 30), EQUAL)).isFalse();
    assertThat(verdict(Drills.good(9, 30), Drills.good(9, 301), EQUAL))
        .as("only fail-overs are timed")
        .isTrue();
  }

  @Test
  void shouldBreakIt_whenNothingWasDoneOrAsked() {
    assertThat(report.verdict(List.of(), List.of(Drills.good(9, 30)), List.of(EQUAL))).isFalse();
    assertThat(line(0)).startsWith("NOTHING WAS DONE");
    assertThat(report.verdict(List.of(result(new Tally())), List.of(), List.of(EQUAL))).isFalse();
    assertThat(line(1)).isEqualTo("NOTHING WAS ASKED");
  }

  @Test
  void shouldCountQueriesOfAndBetweenFaults() {
    assertThat(
            DrillReport.queries(
                List.of(result(Drills.good(3, 1)), result(Drills.good(4, 1))),
                List.of(Drills.good(5, 1))))
        .isEqualTo(12);
  }
}
