// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.Prefill;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Some simulated engines and a router in front of them. The router sends a request where its first
 * token is expected soonest: work queued there, plus what would have to be computed because it is
 * not cached. Queues and computation run in the trace's own time. Not thread-safe.
 */
final class Fleet implements AutoCloseable {

  /** Prompt tokens an engine computes a second; a mid-size model on one accelerator. */
  static final double PREFILL_TOKENS_PER_SECOND = 8_000;

  private final List<SimulatedEngine> engines = new ArrayList<>();
  private final double[] busyUntil;
  private final FleetTotals totals = new FleetTotals();
  private long turn;

  Fleet(String name, int size, int gpuBlocks, int hostBlocks) {
    busyUntil = new double[size];
    for (int i = 0; i < size; i++) {
      engines.add(
          EngineOptions.vllm(name + "-" + i).gpuBlocks(gpuBlocks).hostBlocks(hostBlocks).start());
    }
  }

  List<SimulatedEngine> engines() {
    return engines;
  }

  FleetTotals totals() {
    return totals;
  }

  /**
   * Routes one request and lets the chosen engine run it.
   *
   * @param atSeconds when it arrives, in the trace's time
   * @return the engine that ran it
   */
  SimulatedEngine run(int[] tokens, double atSeconds, RoutingPolicy policy)
      throws IOException, InterruptedException {
    int chosen =
        policy.cacheAware()
            ? soonest(tokens.length, policy.cachedTokens(tokens), atSeconds)
            : (int) (turn++ % engines.size());
    SimulatedEngine engine = engines.get(chosen);
    Prefill prefill = engine.prefill(tokens, null, null);
    engine.flush();
    double computing = (tokens.length - prefill.cachedTokens()) / PREFILL_TOKENS_PER_SECOND;
    busyUntil[chosen] = Math.max(busyUntil[chosen], atSeconds) + computing;
    totals.add(prefill, busyUntil[chosen] - atSeconds);
    return engine;
  }

  private int soonest(int promptTokens, long[] cached, double atSeconds) {
    int best = 0;
    double bestWait = Double.MAX_VALUE;
    for (int i = 0; i < cached.length; i++) {
      double queued = Math.max(0, busyUntil[i] - atSeconds);
      double wait = queued + (promptTokens - cached[i]) / PREFILL_TOKENS_PER_SECOND;
      if (wait < bestWait) {
        best = i;
        bestWait = wait;
      }
    }
    return best;
  }

  @Override
  public void close() {
    engines.forEach(SimulatedEngine::close);
  }
}
