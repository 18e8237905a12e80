// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Share of the blocks engines held that answers named. A block counts as held when it was, all the
 * time, from a second before the question on: what is younger an index may not know yet.
 * Thread-safe.
 */
final class HitRate {

  private static final long KNOWN_NS = TimeUnit.SECONDS.toNanos(1);

  private long held;
  private long found;

  /**
   * What was counted.
   *
   * @param held blocks that were held
   * @param found those of them that were named
   */
  record Count(long held, long found) {

    /** 0..1; 1 where nothing was held. */
    double share() {
      return held == 0 ? 1 : (double) found / held;
    }
  }

  synchronized void add(@Nullable Held blocks, JsonNode row, long sentNs, long receivedNs) {
    if (blocks != null) {
      long least = blocks.least(sentNs - KNOWN_NS, receivedNs);
      held += least;
      found += Math.min(least, row.path("longest_matched").asLong() / Text.BLOCK);
    }
  }

  /** A question nobody answered found nothing. */
  void failed(Question question, long sentNs) {
    for (DrillEngine engine : question.table().engines()) {
      Held blocks = engine.held(question.text());
      if (blocks != null) {
        synchronized (this) {
          held += blocks.least(sentNs - KNOWN_NS, System.nanoTime());
        }
      }
    }
  }

  /** What was counted since it was asked last. */
  synchronized Count take() {
    Count count = new Count(held, found);
    held = 0;
    found = 0;
    return count;
  }
}
