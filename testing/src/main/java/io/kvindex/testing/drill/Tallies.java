// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The tally that counts now, and what was wrong first. Thread-safe. */
final class Tallies {

  private static final int KEPT = 40;

  private volatile Tally current = new Tally();
  private String during = "before anything was done";
  private final List<String> wrong = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private int found;

  Tally current() {
    return current;
  }

  /**
   * Begins a new one; what was asked before still counts for the former.
   *
   * @param what is done from now on, for people
   */
  synchronized Tally begin(String what) {
    Tally next = new Tally();
    current = next;
    during = what;
    return next;
  }

  /** Keeps the first ones, each with what was done when it was found. */
  synchronized void found(String what) {
    keep(findings, what);
  }

  /** The same for what was never true: a thousand refusals do not hide it. */
  synchronized void foundWrong(String what) {
    keep(wrong, what);
  }

  private void keep(List<String> some, String what) {
    found++;
    if (some.size() < KEPT) {
      some.add(during + ": " + what);
    }
  }

  /** The first that were wrong, and behind them the first of all others. */
  synchronized List<String> findings() {
    return Stream.concat(wrong.stream(), findings.stream()).toList();
  }

  /** All of them, kept or not. */
  synchronized int count() {
    return found;
  }
}
