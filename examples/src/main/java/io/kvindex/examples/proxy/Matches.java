// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known about one prompt.
 *
 * @param problem why there are no numbers to go by, null = the numbers count
 * @param tokens cached prefix by instance, in tokens; who is not there has nothing
 */
record Matches(@Nullable Reason problem, Map<String, Integer> tokens) {

  Matches {
    tokens = Map.copyOf(tokens);
  }

  static Matches unknown(Reason problem) {
    return new Matches(problem, Map.of());
  }

  static Matches of(Map<String, Integer> tokens) {
    return new Matches(null, tokens);
  }

  /** Cached tokens at the prompt's start, 0 if unknown. */
  int at(String instance) {
    return tokens.getOrDefault(instance, 0);
  }

  /** Why a request goes to an instance, given these. */
  Reason reasonFor(String instance) {
    if (problem != null) {
      return problem;
    }
    int longest = tokens.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    if (longest == 0) {
      return Reason.NO_MATCH;
    }
    return at(instance) == longest ? Reason.MATCH : Reason.LOAD;
  }
}
