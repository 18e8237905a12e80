// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.launcher.terminal.Bars;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.kvindex.sandbox.trace.TraceReader;
import io.kvindex.sandbox.trace.TraceRequest;
import io.kvindex.sandbox.trace.TraceTokens;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import me.tongfei.progressbar.ProgressBar;

/**
 * Replays a trace three times at once, over three fleets of equal engines: one routed by kvindex
 * over HTTP, one round-robin, one by an oracle. Only the first fleet's events are followed.
 */
final class DemoRun {

  private static final long VISIBLE_WITHIN_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int PROMPTS_TO_COMPARE = 100;

  private final DemoOptions options;
  private final IndexClient index;
  private final PrintWriter out;
  private final TraceTokens tokens = TraceTokens.standard();
  private final Deque<int[]> lastPrompts = new ArrayDeque<>();

  DemoRun(DemoOptions options, IndexClient index, PrintWriter out) {
    this.options = options;
    this.index = index;
    this.out = out;
  }

  /**
   * Runs it and prints the report.
   *
   * @return whether nothing was lost and no number was wrong
   */
  boolean run() throws IOException, InterruptedException {
    try (Fleet followed = fleet("kvindex");
        Fleet turns = fleet("round-robin");
        Fleet ideal = fleet("oracle");
        VisibilityProbe probe = new VisibilityProbe(index)) {
      for (SimulatedEngine engine : followed.engines()) {
        index.register(engine);
      }
      Latencies queries = new Latencies();
      replay(
          new Lane(followed, new KvindexPolicy(index, followed.engines(), queries)),
          new Lane(turns, new RoundRobinPolicy()),
          new Lane(ideal, new OraclePolicy(ideal.engines())),
          probe);
      probe.close();
      DemoReport report = new DemoReport(out);
      report.fleets(followed.totals(), turns.totals(), ideal.totals());
      report.latencies(queries, probe.times());
      return truth(new LossCheck(index, followed.engines()), followed.engines().size(), report);
    }
  }

  /** A fleet and how it is routed. */
  private record Lane(Fleet fleet, RoutingPolicy policy) {}

  private Fleet fleet(String name) {
    return new Fleet(name, options.engines(), options.gpuBlocks(), options.hostBlocks());
  }

  private void replay(Lane followed, Lane turns, Lane ideal, VisibilityProbe probe)
      throws IOException, InterruptedException {
    try (TraceReader trace = open();
        ProgressBar bar = progressBar()) {
      long startedNs = System.nanoTime();
      int done = 0;
      for (TraceRequest request = trace.next();
          request != null && done < options.requests();
          request = trace.next()) {
        double atSeconds = request.timestampMs() / 1e3;
        waitUntil(startedNs + (long) (atSeconds / options.speed() * 1e9));
        int[] prompt = request.tokens(tokens);
        probe.published(followed.fleet().run(prompt, atSeconds, followed.policy()));
        turns.fleet().run(prompt, atSeconds, turns.policy());
        ideal.fleet().run(prompt, atSeconds, ideal.policy());
        remember(prompt);
        bar.step();
        done++;
      }
    }
  }

  private void remember(int[] prompt) {
    lastPrompts.addLast(prompt);
    if (lastPrompts.size() > PROMPTS_TO_COMPARE) {
      lastPrompts.removeFirst();
    }
  }

  private boolean truth(LossCheck check, int engines, DemoReport report)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + VISIBLE_WITHIN_NS;
    while (!(check.allVisible() && check.applied() >= check.sent())
        && System.nanoTime() < deadlineNs) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
    int wrong = 0;
    for (int[] prompt : lastPrompts) {
      wrong += check.wrongNumbers(prompt);
    }
    long sent = check.sent();
    long applied = check.applied();
    report.truth(sent, applied, lastPrompts.size() * engines * LossCheck.NUMBERS_PER_ROW, wrong);
    return sent == applied && wrong == 0;
  }

  private TraceReader open() throws IOException {
    return options.trace() == null ? TraceReader.bundled() : TraceReader.open(options.trace());
  }

  private ProgressBar progressBar() {
    return Bars.of("routing", "requests", options.requests());
  }

  private static void waitUntil(long whenNs) {
    for (long left = whenNs - System.nanoTime(); left > 0; left = whenNs - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
