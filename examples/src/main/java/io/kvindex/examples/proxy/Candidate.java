// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.util.Comparator;
import java.util.List;

/**
 * An engine as it stands for one request.
 *
 * <p><b>The rule.</b> {@code score = matched tokens - loadTokens x requests in flight}: a cached
 * token is a token of prefill saved, and each request ahead costs about as much waiting as
 * prefilling {@code loadTokens}. Equal scores go to who has less in flight, then to who got fewer
 * requests so far. Engines that refused a moment ago come last whatever their score.
 *
 * <p>Load and history are read once, so that the order is one of a moment although both change.
 */
record Candidate(Engine engine, int matched, long score, boolean cooling, int load, long history) {

  private static final Comparator<Candidate> BEST_FIRST =
      Comparator.comparing(Candidate::cooling)
          .thenComparing(Comparator.comparingLong(Candidate::score).reversed())
          .thenComparingInt(Candidate::load)
          .thenComparingLong(Candidate::history);

  /** All engines in the order in which they should be tried. */
  static List<Candidate> ranked(List<Engine> engines, Matches matches, int loadTokens) {
    return engines.stream()
        .map(engine -> of(engine, matches.at(engine.instance()), loadTokens))
        .sorted(BEST_FIRST)
        .toList();
  }

  private static Candidate of(Engine engine, int matched, int loadTokens) {
    int load = engine.inFlight();
    long score = matched - (long) loadTokens * load;
    return new Candidate(engine, matched, score, engine.coolingDown(), load, engine.requests());
  }
}
