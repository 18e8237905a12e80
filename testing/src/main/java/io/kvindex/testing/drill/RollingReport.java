// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.testing.drill.RollingRestart.Sample;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The curve of a rolling restart. */
final class RollingReport {

  private static final int WIDTH = 50;

  private RollingReport() {}

  /** Prints each second, each restart, and whether the hit rate ever dropped; false = it did. */
  static boolean print(List<Sample> samples, PrintWriter out) {
    out.printf(
        "%n%6s  %-10s %8s %8s %8s %7s%n",
        "second", "restarting", "blocks", "hit rate", "told of", "oldest");
    samples.forEach(sample -> print(sample, out));
    restarts(samples, out);
    return verdict(new HitRateCurve(samples), out);
  }

  private static boolean verdict(HitRateCurve curve, PrintWriter out) {
    HitRateCurve.Window lowest = curve.lowest();
    if (lowest == null || curve.windows().stream().anyMatch(one -> one.hits().held() == 0)) {
      out.println("NOTHING WAS COUNTED for ten seconds: no answer, so no hit rate");
      return false;
    }
    long drops = curve.windows().stream().filter(curve::isDrop).count();
    out.printf(
        Locale.ROOT,
        "hit rate of ten seconds: lowest %.4f (from second %d, %s), %.4f while nothing was restarted; %s%n",
        lowest.hits().share(),
        lowest.first(),
        lowest.doing(),
        curve.quiet().share(),
        drops == 0
            ? "it never dropped"
            : "IT DROPPED in " + drops + " of " + curve.windows().size() + " windows");
    return curve.neverDropped();
  }

  private static void restarts(List<Sample> samples, PrintWriter out) {
    Map<String, List<Sample>> byProcess = new LinkedHashMap<>();
    samples.forEach(
        one -> byProcess.computeIfAbsent(one.doing(), key -> new ArrayList<>()).add(one));
    out.printf(
        "%n%-10s %8s %8s %8s %8s %8s%n",
        "restarting", "seconds", "hit rate", "lowest", "told of", "oldest");
    byProcess.forEach(
        (process, some) ->
            out.printf(
                Locale.ROOT,
                "%-10s %8d %8.4f %8.4f %8.4f %6.1f s%n",
                process,
                some.size(),
                HitRateCurve.sum(some).share(),
                some.stream().mapToDouble(one -> one.hits().share()).min().orElse(1),
                some.stream().mapToDouble(one -> one.told().share()).min().orElse(1),
                some.stream().mapToLong(Sample::staleNs).max().orElse(0) / 1e9));
  }

  private static void print(Sample sample, PrintWriter out) {
    if (sample.hits().held() == 0) {
      out.printf("%6d  %-10s %8d        -%n", sample.second(), sample.doing(), 0);
      return;
    }
    out.printf(
        Locale.ROOT,
        "%6d  %-10s %8d %8.4f %8.4f %5.1f s %s%n",
        sample.second(),
        sample.doing(),
        sample.hits().held(),
        sample.hits().share(),
        sample.told().share(),
        sample.staleNs() / 1e9,
        "#".repeat((int) Math.round(sample.hits().share() * WIDTH)));
  }

  /** Prints when a replica was how far behind. */
  static void windows(RollingRestart.Result result, PrintWriter out) {
    out.println("answers more than 1 s behind (age of the oldest event that was missing):");
    for (Staleness.Window window : result.windows()) {
      out.printf(
          Locale.ROOT,
          "%6.1f  %s for %.1f s, %s%n",
          (window.startNs() - result.beganNs()) / 1e9,
          window.replica(),
          window.peakNs() / 1e9,
          window.what());
    }
    if (result.windows().isEmpty()) {
      out.println("        none");
    }
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
              .put("oldest_missing_ms", TimeUnit.NANOSECONDS.toMillis(sample.staleNs()))
              .put("failed", sample.failed()));
    }
  }

  private static @Nullable Double share(HitRate.Count count) {
    return count.held() == 0 ? null : count.share();
  }
}
