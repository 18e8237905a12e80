// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * A dump under load: what it costs the server and its queries; then a second server, which has
 * nothing, takes it over while publishers go on, and must answer as the first one does once both
 * have seen the same last events. The publishers' replays begin where that dump began, so
 * everything before is known from the dump alone. Exit code 1 on any wrong answer.
 */
public final class DumpLoad {
  private static final int KEPT_BATCHES = 10_000;
  private static final long BUILD_POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final double MIB = 1 << 20;

  private final String host;
  private final int port;
  private final int freshPort;
  private final int pid;
  private final int connections;
  private final int warmUpSeconds;
  private final int seconds;
  private final int churnBlocks;
  private final int window;
  private final LoadShape shape;

  private DumpLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    freshPort = options.number("fresh-port", 13334);
    pid = options.number("pid", 0);
    connections = options.number("connections", 4);
    warmUpSeconds = options.number("warm-up", 30);
    seconds = options.number("seconds", 15);
    churnBlocks = options.number("churn", 10_000);
    window = options.number("window", 256);
    shape = LoadShape.of(options);
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    System.exit(new DumpLoad(new LoadOptions(args)).run() ? 0 : 1);
  }

  private boolean run() throws Exception {
    ServerProcess server = pid == 0 ? ServerProcess.listeningOn(port) : new ServerProcess(pid);
    PromptBodies bodies = new PromptBodies(shape, WireForm.JSON, host + ":" + port);
    try (VisibleSequences visible =
            new VisibleSequences(host, port, shape.instances(), BUILD_POLL_NS);
        Fleet fleet = new Fleet(shape.instances(), KEPT_BATCHES, visible)) {
      fleet.join(host, port);
      long copies = new QueryState(shape, fleet, window).build();
      say("%,d block copies of %d publishers are visible", copies, fleet.size());
      visible.every(TimeUnit.SECONDS.toNanos(1));
      QueryRun run = new QueryRun(host, port, shape, server, fleet, connections, churnBlocks, 64);
      QueryFigures without = run.measure(bodies, warmUpSeconds, seconds);
      QueryFigures with = dumpMeanwhile(server, run, bodies);
      without.report();
      with.report();
      stall(server, run);
      TakeOver takeOver = new TakeOver(host, port, freshPort, shape, bodies, fleet, run);
      return takeOver.isRight() && without.right() && with.right();
    }
  }

  /** One dump after the other, as long as queries are measured. */
  private QueryFigures dumpMeanwhile(ServerProcess server, QueryRun run, PromptBodies bodies)
      throws Exception {
    long before = server.residentBytes();
    CompletableFuture<Void> measured = new CompletableFuture<>();
    CompletableFuture<List<DumpReading>> dumps =
        CompletableFuture.supplyAsync(
            () -> {
              List<DumpReading> read = new ArrayList<>();
              try {
                do {
                  read.add(DumpReading.of(host, port));
                } while (!measured.isDone());
              } catch (IOException e) {
                throw new CompletionException(e);
              }
              return read;
            });
    QueryFigures figures = run.measure(bodies, 0, seconds);
    measured.complete(null);
    run.churnUntil(dumps);
    long after = server.residentBytes();
    for (DumpReading dump : dumps.get()) {
      say("dump under load         %,.1f MiB in %.1f s", dump.bytes() / MIB, dump.seconds());
    }
    say("resident memory         %,.0f MiB before, %,.0f MiB after", before / MIB, after / MIB);
    return figures;
  }

  /** What a dump holds in memory while its reader has stopped half-way. */
  private void stall(ServerProcess server, QueryRun run) throws Exception {
    long[] live = new long[2];
    live[0] = server.liveHeapBytes();
    long half = DumpReading.of(host, port).bytes() / 2;
    CompletableFuture<Void> dump =
        CompletableFuture.runAsync(
            () -> {
              try {
                DumpReading.of(host, port, half, () -> live[1] = server.liveHeapBytes());
              } catch (IOException e) {
                throw new CompletionException(e);
              }
            });
    run.churnUntil(dump);
    dump.get();
    say(
        "live heap               %,.1f MiB, %,.1f MiB while a reader has stopped half-way",
        live[0] / MIB, live[1] / MIB);
  }
}
