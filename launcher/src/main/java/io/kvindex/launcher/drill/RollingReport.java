// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import io.kvindex.launcher.drill.RollingRestart.Sample;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** The curve of a rolling restart. */
final class RollingReport {

  private static final int WIDTH = 50;

  /** Blocks of a second's answers are some ten thousand: one block less is below this. */
  private static final double SAME = 0.9999;

  private RollingReport() {}

  /**
   * Prints it; whether no second was below the one before. A second in which nothing was counted is
   * passed over: it says neither that all was found nor that nothing was.
   */
  static boolean print(List<Sample> samples, PrintWriter out) {
    out.printf("%n%6s  %-10s %10s %8s%n", "second", "restarting", "blocks", "hit rate");
    Sample before = null;
    int drops = 0;
    double least = 1;
    for (Sample sample : samples) {
      if (sample.held() == 0) {
        out.printf("%6d  %-10s %10d        -%n", sample.second(), sample.doing(), 0);
        continue;
      }
      boolean dropped = before != null && sample.share() < before.share() * SAME;
      drops += dropped ? 1 : 0;
      least = Math.min(least, sample.share());
      out.printf(
          Locale.ROOT,
          "%6d  %-10s %10d %8.4f %s%s%n",
          sample.second(),
          sample.doing(),
          sample.held(),
          sample.share(),
          "#".repeat((int) Math.round(sample.share() * WIDTH)),
          dropped ? "  DROPPED" : "");
      before = sample;
    }
    if (before == null) {
      out.println("NOTHING WAS COUNTED: no answer, so no hit rate");
      return false;
    }
    out.printf(
        Locale.ROOT,
        "lowest hit rate %.4f; %s%n",
        least,
        drops == 0
            ? "it never dropped"
            : "IT DROPPED in " + drops + " of " + samples.size() + " seconds");
    return drops == 0;
  }

  /** Prints what routers met; whether there was anything, and all of it as promised. */
  static boolean answers(List<Tally> tallies, PrintWriter out) {
    long queries = sum(tallies, tally -> tally.queries);
    out.printf(
        "%d queries: %d failed, %d wrong, %d late, %d refused%n",
        queries,
        sum(tallies, tally -> tally.failed),
        sum(tallies, tally -> tally.wrong),
        sum(tallies, tally -> tally.late),
        sum(tallies, tally -> tally.refused));
    return queries > 0 && tallies.stream().allMatch(FaultResult::areAnswersRight);
  }

  private static long sum(List<Tally> tallies, Function<Tally, AtomicLong> counter) {
    return tallies.stream().mapToLong(tally -> counter.apply(tally).get()).sum();
  }

  /** Writes it as JSON lines; {@code hit_rate} is null where nothing was counted. */
  static void write(List<Sample> samples, DrillJournal journal) {
    for (Sample sample : samples) {
      journal.write(
          DrillJournal.object()
              .put("type", "hit_rate")
              .put("second", sample.second())
              .put("restarting", sample.doing())
              .put("blocks", sample.held())
              .put("hit_rate", sample.held() == 0 ? null : sample.share())
              .put("failed", sample.failed()));
    }
  }
}
