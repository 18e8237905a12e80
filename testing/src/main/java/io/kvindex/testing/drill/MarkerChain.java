// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;

/**
 * A text that grows by a block at a time at each engine of a table: how much of it an answer shows
 * tells how old the answer is. Thread-safe.
 */
final class MarkerChain {

  /** Markers an engine gets before the next chain begins. */
  static final int LENGTH = 32;

  private final Table table;
  private final Text text;
  private final long[][] sentNs;
  private final int[] counts;

  MarkerChain(Table table, Text text) {
    this.table = table;
    this.text = text;
    sentNs = new long[table.engines().size()][LENGTH];
    counts = new int[sentNs.length];
  }

  /**
   * The oldest marker an answer does not show.
   *
   * @param ageNs its age when the question was sent, 0 = all are shown
   * @param engine whose marker it is
   */
  record Missing(long ageNs, String engine) {
    static final Missing NOTHING = new Missing(0, "");
  }

  /** Lets an engine publish the next one; false = it has had all. */
  boolean mark(int engine) {
    if (count(engine) == LENGTH) {
      return false;
    }
    long sent = table.engines().get(engine).mark(text);
    synchronized (this) {
      sentNs[engine][counts[engine]++] = sent;
    }
    return true;
  }

  private synchronized int count(int engine) {
    return counts[engine];
  }

  /** About as much of it as an engine has published by now. */
  synchronized Question question() {
    return new Question(table, text, Math.max(1, Arrays.stream(counts).max().orElse(0)));
  }

  /** Looks at the rows of an answer to {@link #question} that was sent at that time. */
  Missing missing(JsonNode rows, long atNs) {
    Missing oldest = Missing.NOTHING;
    for (int i = 0; i < table.engines().size(); i++) {
      DrillEngine engine = table.engines().get(i);
      int shown = rows.path(engine.name()).path("longest_matched").asInt() / Text.BLOCK;
      long age = age(i, engine, shown, atNs);
      if (age > oldest.ageNs()) {
        oldest = new Missing(age, engine.name() + " of " + table.model());
      }
    }
    return oldest;
  }

  private long age(int number, DrillEngine engine, int shown, long atNs) {
    int count = count(number);
    if (shown >= count) {
      return 0;
    }
    Held held = engine.held(text);
    if (held == null || held.now() < count) {
      return 0; // evicted: to show nothing is right
    }
    synchronized (this) {
      return Math.max(0, atNs - sentNs[number][shown]);
    }
  }
}
