// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What came of a drill, for people and as JSON. */
final class DrillReport {

  private static final String HEAD =
      "%5s  %-18s %6s %6s %7s %6s %5s %5s %7s %5s %7s %7s %7s %7s %7s %7s%n";
  private static final String LINE =
      "%5d  %-18s %6.1f %6.1f %7d %6d %5d %5d %7d %5d %7d %7.1f %7.1f %7.1f %7.1f %7.1f%s%n";
  private static final double NS_A_SECOND = 1e9;
  private static final double MS_A_SECOND = 1e3;

  private final DrillOptions options;
  private final PrintWriter out;

  DrillReport(DrillOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /** One line for each fault. */
  void faults(List<FaultResult> results) {
    out.printf(
        HEAD, "round", "fault", "down s", "ready", "queries", "failed", "wrong", "late", "refused",
        "slow", "retried", "stale s", "p50 ms", "p99 ms", "max ms", "others");
    for (FaultResult result : results) {
      Tally tally = result.tally();
      out.printf(
          Locale.ROOT,
          LINE,
          result.round(),
          result.fault(),
          result.fault().forMs() / MS_A_SECOND,
          result.readyMs() / MS_A_SECOND,
          tally.queries.get(),
          tally.failed.get(),
          tally.wrong.get(),
          tally.late.get(),
          tally.refused.get(),
          tally.slow.get(),
          tally.retried.get(),
          result.staleSeconds(),
          tally.latencies.percentileMs(0.5),
          tally.latencies.percentileMs(0.99),
          tally.latencies.percentileMs(1),
          tally.survivors.percentileMs(0.99),
          result.isKept(options) ? "" : "  BROKEN");
    }
  }

  /** Windows of staleness, one line each. */
  void windows(List<FaultResult> results) {
    out.println();
    out.println("answers more than 1 s behind (age of the oldest event that was missing):");
    boolean any = false;
    for (FaultResult result : results) {
      for (Staleness.Window window : result.windows()) {
        any = true;
        out.printf(
            Locale.ROOT,
            "%5d  %-18s %s for %.1f s, from %.1f s behind the fault on, %s%n",
            result.round(),
            result.fault(),
            window.replica(),
            window.peakNs() / NS_A_SECOND,
            (window.startNs() - result.faultNs()) / NS_A_SECOND,
            window.what());
      }
    }
    if (!any) {
      out.println("       none");
    }
  }

  void check(RoundCheck.Result result) {
    out.printf(
        "round %d at rest: digests of %d owners on at least %d replicas, %d blocks, %d rows compared: %s%n",
        result.round(),
        result.owners(),
        result.copies(),
        result.blocks(),
        result.rows(),
        result.problems().isEmpty() ? "all equal" : result.problems());
  }

  /** Queries of all the drill. */
  static long queries(List<FaultResult> faults, List<Tally> between) {
    return Stream.concat(faults.stream().map(FaultResult::tally), between.stream())
        .mapToLong(tally -> tally.queries.get())
        .sum();
  }

  /**
   * Prints it; whether every promise was kept. Without a fault, or a query, nothing is known of
   * them.
   *
   * @param between what routers met before the first fault, and from each one's end to the next
   */
  boolean verdict(List<FaultResult> faults, List<Tally> between, List<RoundCheck.Result> checks) {
    if (faults.isEmpty() || queries(faults, between) == 0) {
      out.println(
          faults.isEmpty()
              ? "NOTHING WAS DONE: --only names nothing this cluster has"
              : "NOTHING WAS ASKED");
      return false;
    }
    boolean kept =
        faults.stream().allMatch(one -> one.isKept(options))
            && between.stream().allMatch(FaultResult::areAnswersRight)
            && checks.stream().allMatch(one -> one.problems().isEmpty());
    out.println(kept ? "every promise was kept" : "PROMISES WERE BROKEN");
    return kept;
  }

  static ObjectNode json(FaultResult result, boolean kept) {
    Tally tally = result.tally();
    ObjectNode line =
        tally(tally)
            .put("type", "fault")
            .put("round", result.round())
            .put("fault", result.fault().toString())
            .put("down_ms", result.fault().forMs())
            .put("ready_ms", result.readyMs())
            .put("calm_ms", result.calmMs())
            .put("stale_ms", result.peakNs() / 1_000_000)
            .put("kept", kept);
    ArrayNode windows = line.putArray("windows");
    for (Staleness.Window window : result.windows()) {
      windows
          .addObject()
          .put("replica", window.replica())
          .put("from_ms", (window.startNs() - result.faultNs()) / 1_000_000)
          .put("length_ms", window.peakNs() / 1_000_000)
          .put("missing", window.what());
    }
    return line;
  }

  static ObjectNode tally(Tally tally) {
    return DrillJournal.object()
        .put("queries", tally.queries.get())
        .put("failed", tally.failed.get())
        .put("wrong", tally.wrong.get())
        .put("late", tally.late.get())
        .put("refused_by_survivors", tally.refused.get())
        .put("slow_survivors", tally.slow.get())
        .put("retried", tally.retried.get())
        .put("said_stale", tally.saidStale.get())
        .put("said_degraded", tally.saidDegraded.get())
        .put("rows", tally.rows.get())
        .put("rows_with_hits", tally.hits.get())
        .put("p50_ms", tally.latencies.percentileMs(0.5))
        .put("p99_ms", tally.latencies.percentileMs(0.99))
        .put("max_ms", tally.latencies.percentileMs(1))
        .put("survivors_p99_ms", tally.survivors.percentileMs(0.99));
  }

  static ObjectNode json(RoundCheck.Result result) {
    ObjectNode line =
        DrillJournal.object()
            .put("type", "at_rest")
            .put("round", result.round())
            .put("owners", result.owners())
            .put("copies", result.copies())
            .put("blocks", result.blocks())
            .put("rows", result.rows());
    ArrayNode problems = line.putArray("problems");
    result.problems().forEach(problems::add);
    return line;
  }
}
