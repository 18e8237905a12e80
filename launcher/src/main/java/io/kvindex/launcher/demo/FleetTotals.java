// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.sandbox.engine.Prefill;

/** What a fleet did so far. Not thread-safe. */
final class FleetTotals {

  private long requests;
  private long promptTokens;
  private long cachedTokens;
  private double waitSeconds;

  void add(Prefill prefill, double firstTokenAfterSeconds) {
    requests++;
    promptTokens += prefill.promptTokens();
    cachedTokens += prefill.cachedTokens();
    waitSeconds += firstTokenAfterSeconds;
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
    return cachedTokens / Fleet.PREFILL_TOKENS_PER_SECOND;
  }

  /** Mean time to the first token, queueing included, seconds of trace time. */
  double meanWaitSeconds() {
    return requests == 0 ? 0 : waitSeconds / requests;
  }
}
