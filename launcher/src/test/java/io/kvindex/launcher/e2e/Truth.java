// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.Medium;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Compares rows of answers with the engines' own caches, number by number. */
final class Truth {

  private int compared;
  private int nonZero;
  private int hostOnly;

  /**
   * Asks for prompts of the tree the engines are loaded with, and asserts that the rows of all are
   * what their caches say.
   *
   * @return the answers, prompt by prompt
   */
  List<JsonNode> checkPrompts(Api api, List<SimulatedEngine> engines, long seed, int prompts) {
    Random random = new Random(seed);
    List<JsonNode> answers = new ArrayList<>();
    for (int i = 0; i < prompts; i++) {
      int[] prompt = LoadedEngines.prompt(random);
      JsonNode rows = api.query("default", prompt, null, 16);
      engines.forEach(engine -> check(rows, engine, prompt, null));
      answers.add(rows);
    }
    return answers;
  }

  /** Asserts that every number of an engine's row is what its cache says. */
  void check(JsonNode rows, SimulatedEngine engine, int[] tokens, @Nullable String lora) {
    check(
        rows,
        engine,
        engine.holdings(tokens, lora, null),
        tokens.length + " tokens, adapter " + lora);
  }

  /** Asserts that every number of an engine's row is the given truth. */
  void check(JsonNode rows, SimulatedEngine engine, Holdings truth, String query) {
    JsonNode row = rows.path(engine.options().name());
    String expected =
        "{\"longest_matched\":"
            + truth.longestMatched()
            + ",\"GPU\":"
            + truth.tokens(Medium.GPU)
            + ",\"DP\":{\""
            + engine.options().rank()
            + "\":"
            + truth.longestMatched()
            + "}"
            + ",\"CPU\":"
            + truth.tokens(Medium.HOST)
            + ",\"DISK\":0}";
    assertThat(row.toString()).as("%s, %s", engine.options().name(), query).isEqualTo(expected);
    compared++;
    nonZero += truth.longestMatched() > 0 ? 1 : 0;
    hostOnly += truth.longestMatched() > truth.tokens(Medium.GPU) ? 1 : 0;
  }

  /** Rows compared so far. */
  int compared() {
    return compared;
  }

  /** Rows among them with a hit. */
  int nonZero() {
    return nonZero;
  }

  /** Rows among them with walked blocks that only the host tier held. */
  int hostOnly() {
    return hostOnly;
  }
}
