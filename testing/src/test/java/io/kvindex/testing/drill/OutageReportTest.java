// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutageReportTest {

  private final StringWriter said = new StringWriter();

  private static Outage.Result result(
      List<String> tooFast,
      List<String> degraded,
      long equalMs,
      Tally tally,
      RoundCheck.Result check,
      List<String> problems) {
    return new Outage.Result(300, 12.5, tooFast, degraded, equalMs, tally, check, problems);
  }

  private static Outage.Result kept(Tally tally) {
    return result(List.of(), List.of(), 4_300, tally, check(List.of()), List.of());
  }

  private static RoundCheck.Result check(List<String> problems) {
    return new RoundCheck.Result(1, 4, 2, 100, 50, problems);
  }

  private boolean print(Outage.Result result) {
    return OutageReport.print(result, new PrintWriter(said, true));
  }

  @Test
  void shouldTellWhatRoutersMet_andThatAllWasKept() {
    Tally tally = Drills.good(100, 30);
    tally.retried.set(6);
    tally.saidStale.set(7);
    tally.saidDegraded.set(8);
    assertThat(print(kept(tally))).isTrue();
    assertThat(said.toString())
        .contains("Kafka was away for 300.0 s; the fastest engine sent 12.5 batches/s")
        .contains("100 queries: 0 failed, 0 wrong, 0 late, 0 refused, 6 retried")
        .contains("p50 30.0 ms, p99 30.0 ms, longest 30.0 ms")
        .contains("7 said that they are stale, 8 rows were named as degraded")
        .contains("all that was sent was in all tables 4.3 s after its return")
        .contains("no engine sent more than it can send again")
        .contains("digests of 4 owners, 100 blocks, 50 rows compared: all equal")
        .endsWith("every promise was kept" + System.lineSeparator());
  }

  @Test
  void shouldTellWhatWasNotKept() {
    Tally tally = Drills.good(100, 30);
    tally.failed.set(1);
    tally.wrong.set(2);
    tally.late.set(3);
    tally.refused.set(4);
    Outage.Result broken =
        result(List.of(), List.of(), -1, tally, check(List.of("digests differ")), List.of("lost"));
    assertThat(print(broken)).isFalse();
    assertThat(said.toString())
        .contains("100 queries: 1 failed, 2 wrong, 3 late, 4 refused, 0 retried")
        .contains("not all that was sent is in the tables")
        .contains("rows compared: [digests differ]")
        .contains("  lost")
        .endsWith("PROMISES WERE BROKEN" + System.lineSeparator())
        .doesNotContain("all equal", "after its return", "kept");
  }

  @Test
  void shouldBreakThePromise_whenOneQueryFailed() {
    Tally tally = Drills.good(100, 30);
    tally.failed.set(1);
    assertThat(print(kept(tally))).isFalse();
    assertThat(said.toString()).endsWith("PROMISES WERE BROKEN" + System.lineSeparator());
  }

  @Test
  void shouldNameWhoSentTooMuch_andWhoOfThoseIsDegraded() {
    List<String> both = List.of("drill-1", "drill-2");
    Tally tally = Drills.good(9, 30);
    assertThat(print(result(both, List.of("drill-1"), 500, tally, check(List.of()), List.of())))
        .isTrue();
    assertThat(said.toString())
        .contains(
            "sent more than they can send again: [drill-1, drill-2]; named as degraded: [drill-1]")
        .contains("rows compared: all equal");
  }

  @Test
  void shouldSayThatNobodyIsDegraded_whereTheBridgesHadAll() {
    Tally tally = Drills.good(9, 30);
    print(result(List.of("drill-1"), List.of(), 500, tally, check(List.of()), List.of()));
    assertThat(said.toString())
        .contains("[drill-1]; the bridges had all of it, nobody is degraded");
  }

  @Test
  void shouldNotSayThatNobodyIsDegraded_whenItWasNotLookedAt() {
    Tally tally = Drills.good(9, 30);
    print(result(List.of("drill-1"), List.of(), -1, tally, check(List.of()), List.of()));
    assertThat(said.toString())
        .contains("[drill-1]; nobody looked who is named")
        .doesNotContain("nobody is degraded");
  }

  @Test
  void shouldWriteEachNumberUnderItsName() {
    Outage.Result result =
        result(
            List.of("drill-1"),
            List.of("drill-2"),
            4_300,
            Drills.good(100, 30),
            check(List.of()),
            List.of("drill-3 is not named"));
    assertThat(OutageReport.json(result).toString())
        .startsWith("{\"queries\":100,\"failed\":0,")
        .endsWith(
            "\"type\":\"outage\",\"seconds\":300.0,\"fastest_batches_per_second\":12.5,\"equal_ms\":4300,\"kept\":false,"
                + "\"too_fast\":[\"drill-1\"],\"degraded\":[\"drill-2\"],\"problems\":[\"drill-3 is not named\"]}");
  }
}
