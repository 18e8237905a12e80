// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.testing.chaos.ChaosOptions.Oddities;
import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Lets everything go wrong and says whether the answers were right. */
@Command(
    name = "chaos",
    description = {
      "Lets everything go wrong at once and says whether the answers were right all the time.",
      "",
      "Starts a broker, two bridges and an indexer as processes of their own, and simulated vLLM and SGLang engines",
      "behind a network that drops, duplicates, reorders, truncates and delays their events. Engines are killed and",
      "restarted, so are our own processes (kill -9), one bridge is frozen while the other takes over, registrations",
      "come and go. /query is asked all the time: nothing may be promised that the engine does not hold. When all is",
      "quiet again every answer has to be what the engines hold, and only engines of which events are gone for good",
      "may be marked degraded.",
      "",
      "Goes on beyond the time given until 200 messages were dropped, 200 duplicated, 200 reordered, 50 truncated,",
      "10 engines and 5 own processes restarted. Ends with exit code 1 if anything was wrong; then data and logs stay.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class ChaosCommand implements Callable<Integer> {

  private static final double SECONDS_A_MINUTE = 60;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "What goes wrong, in which order, and which message meets which fault (default: a new one each time).")
  private @Nullable Long seed;

  @Option(
      names = "--seeds",
      paramLabel = "FIRST-LAST",
      description =
          "Runs all these seeds one after the other: a line for each, a table at the end. The output of each is kept"
              + " in DIR/seed-N.txt, data and logs of those that failed in DIR/seed-N.",
      converter = SeedRange.Converter.class)
  private @Nullable SeedRange seeds;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      description =
          "How long things go wrong; fractions are fine (default: ${DEFAULT-VALUE}). From 1 on bridges are frozen too.",
      defaultValue = "2")
  private double minutes;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where data and logs go, and stay (default: a temporary directory).")
  private @Nullable Path directory;

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      description =
          "full, or reduced: all in one process that stays up, for tests of this suite (default: ${DEFAULT-VALUE}).",
      defaultValue = "full")
  private Shape shape;

  @Option(
      names = "--clock-jumps",
      negatable = true,
      description =
          "Whether engines' clocks are set to other times and units, in shape full (default: they are).",
      defaultValue = "true",
      fallbackValue = "true")
  private boolean clockJumps;

  @Option(
      names = "--full-reports",
      negatable = true,
      description =
          "Whether an engine announces reused blocks again, as vLLM does by kv_cache_report_mode, in shape full (default: one does).",
      defaultValue = "true",
      fallbackValue = "true")
  private boolean fullReports;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print each step as it happens in place of a progress bar.")
  private boolean verbose;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(minutes > 0 && minutes <= 24 * SECONDS_A_MINUTE)) {
      throw new ParameterException(
          spec.commandLine(), "--minutes must be above 0 and at most 1440");
    }
    if (seed != null && seeds != null) {
      throw new ParameterException(spec.commandLine(), "either --seed or --seeds");
    }
    PrintWriter out = spec.commandLine().getOut();
    Path given = directory;
    Path where =
        given == null
            ? Files.createTempDirectory("kvindex-chaos-")
            : Files.createDirectories(given);
    Duration time = Duration.ofMillis((long) (minutes * SECONDS_A_MINUTE * 1e3));
    if (seeds != null) {
      return runAll(seeds.seeds(), where, time, out);
    }
    long chosen = seed == null ? System.nanoTime() & Integer.MAX_VALUE : seed;
    out.printf("chaos, seed %d, in %s%n", chosen, where);
    out.flush();
    ChaosOptions options = new ChaosOptions(chosen, time, where, shape, oddities(), verbose);
    boolean right = new ChaosRun(options, out).run().isRight();
    if (right && given == null) {
      ChaosDirectories.delete(where);
    }
    return right ? 0 : 1;
  }

  private Oddities oddities() {
    return new Oddities(clockJumps, fullReports);
  }

  private int runAll(List<Long> all, Path where, Duration time, PrintWriter out)
      throws IOException, InterruptedException {
    for (long one : all) {
      if (Files.exists(ChaosSeeds.of(where, one))) {
        throw new ParameterException(
            spec.commandLine(),
            ChaosSeeds.of(where, one) + " is there already: give another --dir");
      }
    }
    out.printf("chaos, %d seeds, in %s%n", all.size(), where);
    out.flush();
    return new ChaosSeeds(where, time, shape, oddities(), out).run(all) ? 0 : 1;
  }
}
