// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.engine.EngineCounters;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.Medium;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares what the engines sent and hold with what the index applied and says. */
final class LossCheck {

  /** Numbers compared per instance: the longest match, device, host. */
  static final int NUMBERS_PER_ROW = 3;

  private static final Pattern APPLIED =
      Pattern.compile(
          "^kvindex_events_total\\{[^}]*outcome=\"applied\"[^}]*} ([0-9.E+]+)$", Pattern.MULTILINE);

  private final IndexClient index;
  private final List<SimulatedEngine> engines;

  LossCheck(IndexClient index, List<SimulatedEngine> engines) {
    this.index = index;
    this.engines = engines;
  }

  /** Events the engines have sent over all their lives. */
  long sent() {
    return engines.stream().map(SimulatedEngine::counters).mapToLong(EngineCounters::events).sum();
  }

  /** Events the index has applied, from its metrics page. */
  long applied() throws IOException, InterruptedException {
    Matcher matcher = APPLIED.matcher(index.metrics());
    double applied = 0;
    while (matcher.find()) {
      applied += Double.parseDouble(matcher.group(1));
    }
    return Math.round(applied);
  }

  /** Whether answers show every batch of every engine. */
  boolean allVisible() throws IOException, InterruptedException {
    for (SimulatedEngine engine : engines) {
      if (index.visibleSequence(engine) < engine.lastSequence()) {
        return false;
      }
    }
    return true;
  }

  /** How many of an answer's numbers differ from the engines' own caches. */
  int wrongNumbers(int[] tokens) throws IOException, InterruptedException {
    JsonNode rows = index.query(tokens, engines.get(0).options().blockSize());
    int wrong = 0;
    for (SimulatedEngine engine : engines) {
      Holdings truth = engine.holdings(tokens, null, null);
      JsonNode row = rows.path(engine.options().name());
      wrong += row.path("longest_matched").asLong(-1) == truth.longestMatched() ? 0 : 1;
      wrong += row.path("GPU").asLong(-1) == truth.tokens(Medium.GPU) ? 0 : 1;
      wrong += row.path("CPU").asLong(-1) == truth.tokens(Medium.HOST) ? 0 : 1;
    }
    return wrong;
  }
}
