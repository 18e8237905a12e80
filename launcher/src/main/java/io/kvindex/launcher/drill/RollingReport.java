// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import io.kvindex.launcher.drill.RollingRestart.Sample;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The curve of a rolling restart. */
final class RollingReport {

  private static final int WIDTH = 50;

  private RollingReport() {}

  /**
   * Prints it; whether no second was below the lowest one in which nothing was restarted: engines
   * store while a router asks, so that it is not always 1 then either. A second in which nothing
   * was counted is passed over: it says neither that all was found nor that nothing was.
   */
  static boolean print(List<Sample> samples, PrintWriter out) {
    double quiet = lowest(samples, one -> one.doing().equals(RollingRestart.NOTHING));
    out.printf(
        "%n%6s  %-10s %8s %8s %8s%n", "second", "restarting", "blocks", "hit rate", "told of");
    samples.forEach(sample -> print(sample, sample.hits().share() < quiet, out));
    if (samples.stream().noneMatch(one -> one.hits().held() > 0)) {
      out.println("NOTHING WAS COUNTED: no answer, so no hit rate");
      return false;
    }
    long drops = samples.stream().filter(one -> one.hits().share() < quiet).count();
    out.printf(
        Locale.ROOT,
        "lowest hit rate %.4f, %.4f while nothing was restarted; %s%n",
        lowest(samples, one -> true),
        quiet,
        drops == 0
            ? "it never dropped"
            : "IT DROPPED in " + drops + " of " + samples.size() + " seconds");
    return drops == 0;
  }

  /** A second in which nothing was counted has a share of 1. */
  private static double lowest(List<Sample> samples, Predicate<Sample> which) {
    return samples.stream().filter(which).mapToDouble(one -> one.hits().share()).min().orElse(1);
  }

  private static void print(Sample sample, boolean dropped, PrintWriter out) {
    if (sample.hits().held() == 0) {
      out.printf("%6d  %-10s %8d        -%n", sample.second(), sample.doing(), 0);
      return;
    }
    out.printf(
        Locale.ROOT,
        "%6d  %-10s %8d %8.4f %8.4f %s%s%n",
        sample.second(),
        sample.doing(),
        sample.hits().held(),
        sample.hits().share(),
        sample.told().share(),
        "#".repeat((int) Math.round(sample.hits().share() * WIDTH)),
        dropped ? "  DROPPED" : "");
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

  /** Writes it as JSON lines; a share is null where nothing was counted. */
  static void write(List<Sample> samples, DrillJournal journal) {
    for (Sample sample : samples) {
      journal.write(
          DrillJournal.object()
              .put("type", "hit_rate")
              .put("second", sample.second())
              .put("restarting", sample.doing())
              .put("blocks", sample.hits().held())
              .put("hit_rate", share(sample.hits()))
              .put("told_of", share(sample.told()))
              .put("failed", sample.failed()));
    }
  }

  private static @Nullable Double share(HitRate.Count count) {
    return count.held() == 0 ? null : count.share();
  }
}
