// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.testing.chaos.ChaosOptions.Oddities;
import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs of the suite one after the other. The whole output of each is kept in {@code seed-N.txt};
 * its data and logs, in {@code seed-N}, only where something was wrong.
 */
final class ChaosSeeds {

  private static final String COLUMNS = "%6s  %-8s %6s %9s %8s %8s %5s %9s %9s %7s";

  private final Path directory;
  private final Duration time;
  private final Shape shape;
  private final Oddities oddities;
  private final PrintWriter out;

  /**
   * @param directory everything goes there
   * @param time how long things go wrong in each run, at least
   * @param out a line for each run and a table go there
   */
  ChaosSeeds(Path directory, Duration time, Shape shape, Oddities oddities, PrintWriter out) {
    this.directory = directory;
    this.time = time;
    this.shape = shape;
    this.oddities = oddities;
    this.out = out;
  }

  /** Where a run's data and logs are. */
  static Path of(Path directory, long seed) {
    return directory.resolve("seed-" + seed);
  }

  /** Runs them all, whatever comes of each; whether nothing was wrong in any. */
  boolean run(List<Long> seeds) throws IOException, InterruptedException {
    List<ChaosResult> results = new ArrayList<>();
    for (long seed : seeds) {
      ChaosResult result = run(seed);
      results.add(result);
      out.printf(Locale.ROOT, "%d of %d: %s%n", results.size(), seeds.size(), sentence(result));
      out.flush();
    }
    table(results);
    return results.stream().allMatch(ChaosResult::isRight);
  }

  private ChaosResult run(long seed) throws IOException, InterruptedException {
    Path where = Files.createDirectories(of(directory, seed));
    long begunNs = System.nanoTime();
    ChaosResult result;
    try (PrintWriter file =
        new PrintWriter(Files.newBufferedWriter(directory.resolve("seed-" + seed + ".txt")))) {
      try {
        result =
            new ChaosRun(new ChaosOptions(seed, time, where, shape, oddities, true), file).run();
      } catch (RuntimeException e) {
        e.printStackTrace(file);
        result = ChaosResult.brokenOff(seed, (System.nanoTime() - begunNs) / 1e9, e);
      }
    }
    if (result.isRight()) {
      ChaosDirectories.delete(where);
    }
    return result;
  }

  private static String sentence(ChaosResult result) {
    return String.format(
        Locale.ROOT,
        "seed %d %s in %.0f s; %,d messages, %,d of them harmed, %d engine and %d own restarts,"
            + " %,d answers judged, %,d rows compared",
        result.seed(),
        result.isRight() ? "right" : "FAILED (" + result.first().get(0) + ")",
        result.seconds(),
        result.messages(),
        result.harmed(),
        result.engineRestarts(),
        result.ownRestarts(),
        result.judged(),
        result.compared());
  }

  private void table(List<ChaosResult> results) {
    out.println();
    row("seed", "verdict", "s", "messages", "harmed", "engines", "own", "judged", "rows", "ghosts");
    for (ChaosResult one : results) {
      row(
          one.seed(),
          one.isRight() ? "right" : one.wrong() + " WRONG",
          Math.round(one.seconds()),
          one.messages(),
          one.harmed(),
          one.engineRestarts(),
          one.ownRestarts(),
          one.judged(),
          one.compared(),
          one.ghosts());
    }
    long failed = results.stream().filter(one -> !one.isRight()).count();
    out.printf(
        Locale.ROOT,
        "%d seeds, %s; outputs in %s%n",
        results.size(),
        failed == 0 ? "all right" : failed + " FAILED",
        directory);
    out.flush();
  }

  private void row(Object... values) {
    out.println(String.format(Locale.ROOT, COLUMNS, values).stripTrailing());
  }
}
