// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import java.util.ArrayList;
import java.util.List;

/** The tally that counts now, and what was wrong first. Thread-safe. */
final class Tallies {

  private static final int KEPT = 40;

  private volatile Tally current = new Tally();
  private String during = "before anything was done";
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
    found++;
    if (findings.size() < KEPT) {
      findings.add(during + ": " + what);
    }
  }

  synchronized List<String> findings() {
    return List.copyOf(findings);
  }

  /** All of them, kept or not. */
  synchronized int count() {
    return found;
  }
}
