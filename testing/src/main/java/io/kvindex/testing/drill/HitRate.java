// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What answers are worth to a router, in two numbers. The hit rate: it sends a prompt where most of
 * it is said to be, and finds there so much of what it would have found at the best engine. And the
 * share of the blocks all engines held that it was told of, where a block counts as held when it
 * was, all the time, from a second before the question on: what is younger an index may not know
 * yet. Thread-safe.
 */
final class HitRate {

  private static final long KNOWN_NS = TimeUnit.SECONDS.toNanos(1);

  private long held;
  private long found;
  private long best;
  private long got;

  /**
   * What was counted.
   *
   * @param held blocks there were to be had
   * @param found those of them that were
   */
  record Count(long held, long found) {

    /** 0..1; 1 where nothing was held. */
    double share() {
      return held == 0 ? 1 : (double) found / held;
    }
  }

  /** What a router makes of one answer. For one thread. */
  static final class Choice {
    private long best;
    private long told;
    private long got;

    /** Takes an engine's row, and what it really held until the answer was there. */
    void add(@Nullable Held blocks, JsonNode row, long sentNs, long receivedNs) {
      long had = blocks == null ? 0 : blocks.least(sentNs, receivedNs);
      long said = said(row);
      best = Math.max(best, had);
      if (said > told) {
        told = said;
        got = had;
      }
    }
  }

  /** Takes what was made of an answer. */
  synchronized void add(Choice choice) {
    best += choice.best;
    got += choice.got;
  }

  private static long said(JsonNode row) {
    return row.path("longest_matched").asLong() / Text.BLOCK;
  }

  /** Takes an engine's row. */
  synchronized void add(@Nullable Held blocks, JsonNode row, long sentNs, long receivedNs) {
    if (blocks != null) {
      long least = blocks.least(sentNs - KNOWN_NS, receivedNs);
      held += least;
      found += Math.min(least, said(row));
    }
  }

  /** A question nobody answered found nothing. */
  void failed(Question question, long sentNs) {
    Choice none = new Choice();
    for (DrillEngine engine : question.table().engines()) {
      Held blocks = engine.held(question.text());
      long nowNs = System.nanoTime();
      none.add(blocks, MissingNode.getInstance(), sentNs, nowNs);
      add(blocks, MissingNode.getInstance(), sentNs, nowNs);
    }
    add(none);
  }

  /** Blocks engines held for a second, and were said to; since it was asked last. */
  synchronized Count takeTold() {
    Count count = new Count(held, found);
    held = 0;
    found = 0;
    return count;
  }

  /** Blocks at the best engine, and where a router went; since it was asked last. */
  synchronized Count takeHits() {
    Count count = new Count(best, got);
    best = 0;
    got = 0;
    return count;
  }
}
