// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.Medium;

/** Compares rows of answers with what the engine's own cache says, number by number. */
final class RowCheck {

  private int compared;
  private int nonZero;
  private int missed;

  /** Compares a row of a quiet engine. */
  void check(ChaosEngine engine, Prompt prompt, JsonNode row, Findings here) {
    Holdings truth = engine.holdings(prompt);
    String expected =
        "{\"longest_matched\":"
            + truth.longestMatched()
            + ",\"GPU\":"
            + truth.tokens(Medium.GPU)
            + ",\"DP\":{\"0\":"
            + truth.longestMatched()
            + "},\"CPU\":"
            + truth.tokens(Medium.HOST)
            + ",\"DISK\":0}";
    compared++;
    nonZero += truth.longestMatched() > 0 ? 1 : 0;
    if (engine.mayBeMissed() && isWithin(row, truth)) {
      missed += row.toString().equals(expected) ? 0 : 1;
    } else if (!row.toString().equals(expected)) {
      String what =
          engine.name() + ", " + prompt.name() + ": answered " + row + ", truth " + expected;
      if (row.path("longest_matched").asInt() > truth.longestMatched()) {
        here.ghost(what);
      } else {
        here.wrong(what);
      }
    }
  }

  private static boolean isWithin(JsonNode row, Holdings truth) {
    return row.path("longest_matched").asInt() <= truth.longestMatched()
        && row.path("GPU").asInt() <= truth.tokens(Medium.GPU)
        && row.path("CPU").asInt() <= truth.tokens(Medium.HOST);
  }

  /** Rows with less than an engine held of which not all can be known. */
  int missed() {
    return missed;
  }

  /** Rows compared. */
  int compared() {
    return compared;
  }

  /** Rows among them that had to be a hit. */
  int nonZero() {
    return nonZero;
  }
}
