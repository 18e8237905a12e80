// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.List;
import java.util.Random;

/**
 * What routers ask: texts that are held all the time, conversations that grow, those that were
 * evicted, and what nobody ever sent. Thread-safe.
 */
final class Questions {

  private static final int KINDS = 10;

  private final List<Table> tables;
  private final List<List<Text>> pinned;
  private final int run;

  /**
   * @param pinned texts that are held all the time, by table
   */
  Questions(List<Table> tables, List<List<Text>> pinned, int run) {
    this.tables = tables;
    this.pinned = pinned;
    this.run = run;
  }

  Question next(Random random) {
    Table table = tables.get(random.nextInt(tables.size()));
    DrillEngine engine = table.engines().get(random.nextInt(table.engines().size()));
    int kind = random.nextInt(KINDS);
    if (kind < 3) {
      List<Text> some = pinned.get(table.number());
      return new Question(table, some.get(random.nextInt(some.size())), DrillEngine.PINNED);
    }
    Held held = kind < 6 ? engine.recent(random) : engine.any(random);
    return kind == KINDS - 1 || held == null ? unknown(table, random) : of(table, held.text());
  }

  private Question unknown(Table table, Random random) {
    return of(
        table, new Text(Text.Kind.UNKNOWN, run, table.number(), random.nextInt(Integer.MAX_VALUE)));
  }

  /** About the whole of a text. */
  static Question of(Table table, Text text) {
    int blocks =
        switch (text.kind()) {
          case PINNED -> DrillEngine.PINNED;
          case MARKER -> MarkerChain.LENGTH;
          case CONVERSATION, UNKNOWN -> DrillEngine.TURN * DrillEngine.TURNS;
        };
    return new Question(table, text, blocks);
  }

  /** All that a table's engines hold or held not long ago. */
  static List<Question> all(Table table) {
    return table.engines().stream()
        .flatMap(engine -> engine.all().stream())
        .map(Held::text)
        .distinct()
        .map(text -> of(table, text))
        .toList();
  }
}
