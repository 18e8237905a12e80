// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.Locale;

/** What came of {@link Outage}, for people and as JSON. */
final class OutageReport {

  private OutageReport() {}

  /** Prints it; whether every promise was kept. */
  static boolean print(Outage.Result result, PrintWriter out) {
    Tally tally = result.tally();
    out.printf(
        Locale.ROOT,
        "%nKafka was away for %.1f s; the fastest engine sent %.1f batches/s%n"
            + "%d queries: %d failed, %d wrong, %d late, %d refused, %d retried; p50 %.1f ms, p99 %.1f ms, longest %.1f ms; %d said"
            + " that they are stale, %d rows were named as degraded%n",
        result.seconds(),
        result.fastest(),
        tally.queries.get(),
        tally.failed.get(),
        tally.wrong.get(),
        tally.late.get(),
        tally.refused.get(),
        tally.retried.get(),
        tally.latencies.percentileMs(0.5),
        tally.latencies.percentileMs(0.99),
        tally.latencies.percentileMs(1),
        tally.saidStale.get(),
        tally.saidDegraded.get());
    out.println(
        result.equalMs() < 0
            ? "not all that was sent is in the tables"
            : String.format(
                Locale.ROOT,
                "all that was sent was in all tables %.1f s after its return",
                result.equalMs() / 1e3));
    out.println(
        result.tooFast().isEmpty()
            ? "no engine sent more than it can send again"
            : "sent more than they can send again: " + result.tooFast() + namedAs(result));
    RoundCheck.Result check = result.check();
    out.printf(
        "at rest: digests of %d owners, %d blocks, %d rows compared: %s%n",
        check.owners(),
        check.blocks(),
        check.rows(),
        check.problems().isEmpty() ? "all equal" : check.problems());
    result.problems().forEach(one -> out.println("  " + one));
    out.println(result.isKept() ? "every promise was kept" : "PROMISES WERE BROKEN");
    return result.isKept();
  }

  private static String namedAs(Outage.Result result) {
    if (result.equalMs() < 0) {
      return "; nobody looked who is named as degraded, as the tables are not that far";
    }
    return result.degraded().isEmpty()
        ? "; the bridges had all of it, nobody is degraded"
        : "; named as degraded: " + result.degraded();
  }

  static ObjectNode json(Outage.Result result) {
    ObjectNode line =
        DrillReport.tally(result.tally())
            .put("type", "outage")
            .put("seconds", result.seconds())
            .put("fastest_batches_per_second", result.fastest())
            .put("equal_ms", result.equalMs())
            .put("kept", result.isKept());
    result.tooFast().forEach(line.putArray("too_fast")::add);
    result.degraded().forEach(line.putArray("degraded")::add);
    result.problems().forEach(line.putArray("problems")::add);
    return line;
  }
}
