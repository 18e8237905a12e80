// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.terminal.Bars;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.kvindex.sandbox.trace.TraceReader;
import io.kvindex.sandbox.trace.TraceRequest;
import io.kvindex.sandbox.trace.TraceTokens;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/**
 * Routes a trace over three fleets of equal engines: one routed by kvindex over HTTP, one
 * round-robin, one by an oracle. Only the first fleet's events are followed, and it comes first and
 * alone: what the others compute would be in the latencies.
 */
final class DemoRun {

  private static final long VISIBLE_WITHIN_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int PROMPTS_TO_COMPARE = 100;

  /** One in so many requests of a run comes before times are taken: the JVM has just started. */
  private static final int WARM_UP = 4;

  private final DemoOptions options;
  private final IndexClient index;
  private final PrintWriter out;
  private final TraceTokens tokens = TraceTokens.standard();
  private final Latencies queries = new Latencies();
  private boolean isWarm;
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
    try (Fleet followed = fleet("kvindex", this::askKvindex);
        Fleet turns = fleet("round-robin", null);
        Fleet ideal = fleet("oracle", DemoRun::lookIntoCaches);
        VisibilityProbe probe = new VisibilityProbe(index)) {
      for (SimulatedEngine engine : followed.engines()) {
        index.register(engine);
      }
      replay(followed, turns, ideal, probe);
      probe.close();
      DemoReport report = new DemoReport(out);
      report.fleets(followed, turns, ideal);
      report.latencies(queries, probe.times());
      return truth(new LossCheck(index, followed.engines()), followed.engines().size(), report);
    }
  }

  private Fleet fleet(String name, Fleet.@Nullable Believed believed) {
    return new Fleet(name, options.engines, options.gpuBlocks, options.hostBlocks, believed);
  }

  /** Asks kvindex over HTTP and times the answer as a router sees it. */
  private long[] askKvindex(List<SimulatedEngine> engines, int[] tokens)
      throws IOException, InterruptedException {
    long startedNs = System.nanoTime();
    JsonNode rows = index.query(tokens, engines.get(0).options().blockSize());
    if (isWarm) {
      queries.add(System.nanoTime() - startedNs);
    }
    return engines.stream()
        .mapToLong(e -> rows.path(e.options().name()).path("longest_matched").asLong())
        .toArray();
  }

  /** The best any index could do. */
  private static long[] lookIntoCaches(List<SimulatedEngine> engines, int[] tokens) {
    return engines.stream()
        .mapToLong(e -> e.holdings(tokens, null, null).longestMatched())
        .toArray();
  }

  private void replay(Fleet followed, Fleet turns, Fleet ideal, VisibilityProbe probe)
      throws IOException, InterruptedException {
    List<TraceRequest> requests = requests();
    try (ProgressBar bar = Bars.of("routing", "requests", 2L * requests.size())) {
      long startedNs = System.nanoTime();
      for (int i = 0; i < requests.size(); i++) {
        isWarm = i >= requests.size() / WARM_UP;
        waitUntil(startedNs + (long) (spread(requests, i) / options.speed * 1e9));
        int[] prompt = requests.get(i).tokens(tokens);
        SimulatedEngine engine = followed.run(prompt, seconds(requests.get(i)));
        if (isWarm) {
          probe.published(engine);
        }
        remember(prompt);
        bar.step();
      }
      for (TraceRequest request : requests) {
        int[] prompt = request.tokens(tokens);
        turns.run(prompt, seconds(request));
        ideal.run(prompt, seconds(request));
        bar.step();
      }
    }
  }

  private List<TraceRequest> requests() throws IOException {
    List<TraceRequest> requests = new ArrayList<>();
    try (TraceReader trace = open()) {
      for (TraceRequest request = trace.next();
          request != null && requests.size() < options.requests;
          request = trace.next()) {
        requests.add(request);
      }
    }
    return requests;
  }

  private static double seconds(TraceRequest request) {
    return request.timestampMs() / 1e3;
  }

  /**
   * When a request comes, in the trace's seconds: the trace tells times in steps of some seconds,
   * so those of one step are spread evenly until the next one.
   */
  private static double spread(List<TraceRequest> requests, int at) {
    double step = seconds(requests.get(at));
    int first = at;
    while (first > 0 && seconds(requests.get(first - 1)) == step) {
      first--;
    }
    int next = at;
    while (next < requests.size() && seconds(requests.get(next)) == step) {
      next++;
    }
    double until = next < requests.size() ? seconds(requests.get(next)) : step;
    return step + (until - step) * (at - first) / (next - first);
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
    return options.trace == null ? TraceReader.bundled() : TraceReader.open(options.trace);
  }

  private static void waitUntil(long whenNs) {
    for (long left = whenNs - System.nanoTime(); left > 0; left = whenNs - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
