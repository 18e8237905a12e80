// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.Prefill;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
  private final @Nullable Believed believed;
  private long requests;
  private long promptTokens;
  private long cachedTokens;
  private double waitSeconds;

  /** Says how much of a prompt each engine is believed to hold, in their order. */
  interface Believed {
    long[] cachedTokens(List<SimulatedEngine> engines, int[] tokens)
        throws IOException, InterruptedException;
  }

  /**
   * @param believed null = nothing is known of caches, engines take turns
   */
  Fleet(String name, int size, int gpuBlocks, int hostBlocks, @Nullable Believed believed) {
    this.believed = believed;
    busyUntil = new double[size];
    for (int i = 0; i < size; i++) {
      engines.add(
          EngineOptions.vllm(name + "-" + i).gpuBlocks(gpuBlocks).hostBlocks(hostBlocks).start());
    }
  }

  List<SimulatedEngine> engines() {
    return engines;
  }

  /**
   * Routes one request and lets the chosen engine run it.
   *
   * @param atSeconds when it arrives, in the trace's time
   * @return the engine that ran it
   */
  SimulatedEngine run(int[] tokens, double atSeconds) throws IOException, InterruptedException {
    int chosen =
        believed == null
            ? (int) (requests % engines.size())
            : soonest(tokens.length, believed.cachedTokens(engines, tokens), atSeconds);
    SimulatedEngine engine = engines.get(chosen);
    Prefill prefill = engine.prefill(tokens, null, null);
    engine.flush();
    double computing = (tokens.length - prefill.cachedTokens()) / PREFILL_TOKENS_PER_SECOND;
    busyUntil[chosen] = Math.max(busyUntil[chosen], atSeconds) + computing;
    requests++;
    promptTokens += prefill.promptTokens();
    cachedTokens += prefill.cachedTokens();
    waitSeconds += busyUntil[chosen] - atSeconds;
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

  long requests() {
    return requests;
  }

  long promptTokens() {
    return promptTokens;
  }

  long cachedTokens() {
    return cachedTokens;
  }

  /** Share of prompt tokens found cached, 0..1. */
  double hitRate() {
    return promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens;
  }

  /** Seconds of prefill that cached tokens made unnecessary. */
  double savedSeconds() {
    return cachedTokens / PREFILL_TOKENS_PER_SECOND;
  }

  /** Mean time to the first token, queueing included, seconds of trace time. */
  double meanWaitSeconds() {
    return requests == 0 ? 0 : waitSeconds / requests;
  }

  @Override
  public void close() {
    engines.forEach(SimulatedEngine::close);
  }
}
