// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets an engine of each table publish a marker every 100 ms, one after the other. */
final class Markers implements Runnable {

  /** Between two markers of a table. */
  static final long EVERY_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** By then the oldest ones are evicted. */
  static final int KEPT = 8;

  private final List<Table> tables;
  private final Semaphore gate;
  private final int run;
  private final List<Deque<MarkerChain>> chains = new ArrayList<>();
  private int number;
  private int turn;

  /**
   * @param gate closed while nothing may be published
   */
  Markers(List<Table> tables, Semaphore gate, int run) {
    this.tables = tables;
    this.gate = gate;
    this.run = run;
    for (Table table : tables) {
      chains.add(new ArrayDeque<>(List.of(next(table))));
    }
  }

  private MarkerChain next(Table table) {
    return new MarkerChain(table, new Text(Text.Kind.MARKER, run, table.number(), ++number));
  }

  /** One marker for each table. */
  @Override
  public void run() {
    gate.acquireUninterruptibly();
    try {
      for (int i = 0; i < tables.size(); i++) {
        Table table = tables.get(i);
        int engine = turn % table.engines().size();
        if (!newest(i).mark(engine)) {
          begin(i).mark(engine);
        }
      }
      turn++;
    } finally {
      gate.release();
    }
  }

  private synchronized MarkerChain newest(int table) {
    return chains.get(table).getLast();
  }

  private synchronized MarkerChain begin(int table) {
    Deque<MarkerChain> all = chains.get(table);
    all.addLast(next(tables.get(table)));
    if (all.size() > KEPT) {
      all.removeFirst();
    }
    return all.getLast();
  }

  /** The last chains of each table, the newest one at the end. */
  synchronized List<List<MarkerChain>> chains() {
    List<List<MarkerChain>> all = new ArrayList<>();
    chains.forEach(some -> all.add(List.copyOf(some)));
    return all;
  }
}
