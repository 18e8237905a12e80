// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.testing.drill.DrillOptions.Load;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Kills the processes of a local cluster under load and says what a router noticed. */
@Command(
    name = "drill",
    description = {
      "Kills each process of a local cluster under load, starts it again, and says what a router noticed.",
      "",
      "Run it as deploy/drill.sh. It uses the cluster of deploy/local-cluster.sh, which it starts (and stops in the end) if",
      "none of it runs, and registers simulated engines there. Routers that know all replicas ask them in turn and, where",
      "one refuses or is silent for 250 ms, one other. Each answer has to be what was true at some moment of the last 8 s.",
      "Engines send for a while before routers ask, and routers ask for ten seconds before anything is killed.",
      "",
      "In the table: failed = the retry failed too; wrong = was never true; late = was true more than 8 s before; refused =",
      "a replica to which nothing was done (for a second, where it stood still) failed a request; slow = it took longer than",
      "250 ms; stale = age of the oldest event an answer did not show, by a marker every 100 ms in each partition; others =",
      "p99 of requests to replicas to which nothing was done. After each round the load stops, and digests, numbers of",
      "blocks and all answers of all replicas have to be those of the engines.",
      "",
      "Exit code 1 if a promise was broken: no query failed, none wrong or late, no survivor refused, p99 during a",
      "fail-over 300 ms, stale at most 8 s (--tuned: 4 s), all equal at rest. While an indexer is lost, answers of the",
      "others are at most a second old, and their p99 is 100 ms.",
      "",
      "One that is stopped by Ctrl-C leaves the cluster running: deploy/local-cluster.sh start, then stop.",
      "",
      "  deploy/drill.sh                            ten rounds, half an hour",
      "  deploy/drill.sh --rounds 1 --only index    kill -9 of the indexers only",
      "  deploy/drill.sh --rolling                  orderly restarts, and the hit rate every second",
      "  deploy/drill.sh --outage 300 --operations 1000",
      "                                             all Kafka nodes are killed and away for five minutes: no query fails,",
      "                                             and within 10 s of their return all is equal to the engines again",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class DrillCommand implements Callable<Integer> {

  private static final Pattern FAULT = Pattern.compile("(broker|bridge|index)(-[1-9])?|pause");

  @Spec private CommandSpec spec;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Directory of the cluster (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_CLUSTER_DIR:-./kvindex-data/cluster}")
  private Path directory;

  @Option(
      names = "--script",
      paramLabel = "FILE",
      description = "Where local-cluster.sh is (default: ${DEFAULT-VALUE}).",
      defaultValue = "deploy/local-cluster.sh")
  private Path script;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "How often each fault happens (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int rounds;

  @Option(
      names = "--only",
      paramLabel = "KIND",
      split = ",",
      description =
          "Faults to be had, with commas between: broker, bridge, index (kill -9 of each), one of these by name"
              + " (index-2), pause (SIGSTOP of an active indexer; default: all).")
  private Set<String> only = new TreeSet<>();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "What is sent and asked, and how long each process stays dead (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(
      names = "--operations",
      paramLabel = "N",
      description = "Blocks stored and evicted a second, together (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000")
  private int operations;

  @Option(
      names = "--queries",
      paramLabel = "N",
      description = "Questions a second (default: ${DEFAULT-VALUE}).",
      defaultValue = "200")
  private int queries;

  @Option(
      names = "--instances",
      paramLabel = "N",
      description = "Engines (default: ${DEFAULT-VALUE}).",
      defaultValue = "16")
  private int instances;

  @Option(
      names = "--batches",
      paramLabel = "N",
      description =
          "Batches each engine sends a second, a busy one's steps (default: ${DEFAULT-VALUE}): the fewer, the more"
              + " blocks are in each.",
      defaultValue = "10")
  private int batches;

  @Option(
      names = "--blocks",
      paramLabel = "N",
      description = "Blocks of each engine's cache (default: ${DEFAULT-VALUE}).",
      defaultValue = "4096")
  private int blocks;

  @Option(
      names = "--down",
      paramLabel = "SECONDS",
      description = "Longest time a killed process stays dead (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int downSeconds;

  @Option(
      names = "--tuned",
      description =
          "Start the cluster with short timeouts, and promise 4 s (docs/operate/failures.md).")
  private boolean tuned;

  @Option(
      names = "--untimed",
      description =
          "Judge what is answered, not how fast and how fresh: for a machine that has other work.")
  private boolean untimed;

  @Option(
      names = "--rolling",
      description =
          "Restart everything in order, one process after the other, in place of killing.")
  private boolean rolling;

  @Option(
      names = "--outage",
      paramLabel = "SECONDS",
      description =
          "Kill all Kafka nodes at once and leave them dead for so long, in place of single kills.")
  private int outageSeconds;

  @Option(
      names = "--replay-batches",
      paramLabel = "N",
      description =
          "Batches each engine can send again (default: 3000; with --outage 10000, as engines have);"
              + " ten times as many wait for who does not read."
              + " An engine that sends more during an outage is all there in the end, or named as degraded.")
  private @Nullable Integer replayBatches;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Writes the results there as well, as JSON lines.")
  private @Nullable Path report;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print each step as it happens in place of a progress bar.")
  private boolean verbose;

  @Override
  public Integer call() throws IOException, InterruptedException {
    atLeast("--rounds", rounds, 1);
    atLeast("--operations", operations, 1);
    atLeast("--queries", queries, 1);
    atLeast("--instances", instances, 1);
    atLeast("--batches", batches, 1);
    atLeast("--blocks", blocks, 1_024);
    atLeast("--down", downSeconds, 0);
    atLeast("--outage", outageSeconds, 0);
    // 16 engines with all that real ones have would take half a gigabyte.
    int again = replayBatches != null ? replayBatches : outageSeconds > 0 ? 10_000 : 3_000;
    atLeast("--replay-batches", again, 1);
    if (outageSeconds > 0 && rolling) {
      throw new IllegalArgumentException("--outage and --rolling are two drills: give one");
    }
    for (String one : only) {
      if (!FAULT.matcher(one).matches()) {
        throw new IllegalArgumentException(
            "--only takes broker, bridge, index, broker-1 or pause, got " + one);
      }
    }
    if (!Files.isRegularFile(script)) {
      throw new IllegalArgumentException(
          "--script " + script + " is no file: run deploy/drill.sh, which names it");
    }
    DrillOptions options =
        new DrillOptions(
            script,
            directory,
            rounds,
            Set.copyOf(only),
            seed,
            new Load(operations, queries, instances, batches, blocks, again),
            downSeconds,
            tuned,
            untimed,
            rolling,
            outageSeconds,
            report,
            verbose);
    PrintWriter out = spec.commandLine().getOut();
    out.printf("drill, seed %d, in %s%n", seed, directory);
    out.flush();
    return new DrillRun(options, out).run() ? 0 : 1;
  }

  private void atLeast(String option, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(option + " must be at least " + least + ", got " + value);
    }
  }
}
