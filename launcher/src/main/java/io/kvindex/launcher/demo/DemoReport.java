// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import java.io.PrintWriter;
import java.util.Locale;

/** Prints what the demo found, for people. */
final class DemoReport {

  private final PrintWriter out;

  DemoReport(PrintWriter out) {
    this.out = out;
  }

  void fleets(Fleet kvindex, Fleet roundRobin, Fleet oracle) {
    out.println();
    out.printf(
        "%-34s %9s %14s %14s %9s %14s %12s%n",
        "routing",
        "requests",
        "prompt tokens",
        "found cached",
        "hit rate",
        "saved prefill",
        "first token");
    row("kvindex, over HTTP /query", kvindex);
    row("round-robin", roundRobin);
    row("oracle that sees the caches", oracle);
    out.println();
    out.printf(
        Locale.ROOT,
        "saved prefill and time to the first token assume %,.0f prompt tokens/s per engine, in the trace's own time%n",
        Fleet.PREFILL_TOKENS_PER_SECOND);
  }

  private void row(String name, Fleet fleet) {
    out.printf(
        Locale.ROOT,
        "%-34s %,9d %,14d %,14d %8.1f%% %,12.0f s %10.2f s%n",
        name,
        fleet.requests(),
        fleet.promptTokens(),
        fleet.cachedTokens(),
        100 * fleet.hitRate(),
        fleet.savedSeconds(),
        fleet.meanWaitSeconds());
  }

  void latencies(Latencies queries, Latencies visible) {
    latency("/query, as the router sees it", queries);
    latency("event sent to event in answers", visible);
  }

  private void latency(String name, Latencies times) {
    out.printf(
        Locale.ROOT,
        "%-34s p50 %.2f ms   p99 %.2f ms   (%,d measured)%n",
        name,
        times.percentileMs(0.50),
        times.percentileMs(0.99),
        times.count());
  }

  void truth(long sent, long applied, int compared, int wrong) {
    out.printf(
        Locale.ROOT,
        "numbers compared with the engines' caches: %,d, wrong: %,d%n",
        compared,
        wrong);
    out.printf(Locale.ROOT, "events sent: %,d, applied: %,d%n", sent, applied);
    out.printf(Locale.ROOT, "events lost: %d%n", sent - applied);
    out.flush();
  }
}
