// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Holds a row of an answer against what the engine held: it has to be what was true at some moment
 * between so long before the question was sent and the moment the answer came.
 */
final class TruthCheck {

  /** What was true so much longer ago than allowed, at most, is late, not wrong. */
  private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(Outage.WAIT_MS);

  private final long allowedNs;

  /** What a row is. */
  enum Verdict {
    RIGHT,
    /** It was true, but longer ago than allowed. */
    LATE,
    /** It was not true at any time of these. */
    WRONG
  }

  /**
   * @param allowedNs how old an answer may be
   */
  TruthCheck(long allowedNs) {
    this.allowedNs = allowedNs;
  }

  /**
   * Judges one row.
   *
   * @param held what the engine held of the text asked for, null = it never did
   * @param row of the engine
   * @param sentNs when the question was sent
   * @param receivedNs when the answer was here
   */
  Verdict judge(@Nullable Held held, JsonNode row, long sentNs, long receivedNs) {
    JsonNode matched = row.path("longest_matched");
    int tokens = matched.asInt();
    boolean whole =
        matched.isInt() && tokens % Text.BLOCK == 0 && row.path("GPU").asInt(-1) == tokens;
    if (!whole) {
      return Verdict.WRONG;
    }
    int blocks = tokens / Text.BLOCK;
    if (isTrue(held, blocks, sentNs - allowedNs, receivedNs)) {
      return Verdict.RIGHT;
    }
    return isTrue(held, blocks, sentNs - allowedNs - LATE_NS, receivedNs)
        ? Verdict.LATE
        : Verdict.WRONG;
  }

  private static boolean isTrue(@Nullable Held held, int blocks, long fromNs, long untilNs) {
    if (held == null) {
      return blocks == 0;
    }
    return held.least(fromNs, untilNs) <= blocks && blocks <= held.most(fromNs, untilNs);
  }
}
