// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import io.kvindex.launcher.drill.RollingRestart.Sample;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** The curve of a rolling restart. */
final class RollingReport {

  private static final int WIDTH = 50;

  /** Blocks of a second's answers are some ten thousand: one block less is below this. */
  private static final double SAME = 0.9999;

  private RollingReport() {}

  /** Prints it; whether no second was below the one before. */
  static boolean print(List<Sample> samples, PrintWriter out) {
    out.printf("%n%6s  %-10s %10s %8s%n", "second", "restarting", "blocks", "hit rate");
    Sample before = null;
    int drops = 0;
    double least = 1;
    for (Sample sample : samples) {
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
    out.printf(
        Locale.ROOT,
        "lowest hit rate %.4f; %s%n",
        least,
        drops == 0
            ? "it never dropped"
            : "IT DROPPED in " + drops + " of " + samples.size() + " seconds");
    return drops == 0;
  }

  /** Writes it as JSON lines. */
  static void write(List<Sample> samples, DrillJournal journal) {
    for (Sample sample : samples) {
      journal.write(
          DrillJournal.object()
              .put("type", "hit_rate")
              .put("second", sample.second())
              .put("restarting", sample.doing())
              .put("blocks", sample.held())
              .put("hit_rate", sample.share())
              .put("failed", sample.failed()));
    }
  }
}
