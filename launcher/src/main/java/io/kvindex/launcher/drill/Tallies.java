// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.drill;

import java.util.ArrayList;
import java.util.List;

/** The tally that counts now, and what was wrong first. Thread-safe. */
final class Tallies {

  private static final int KEPT = 40;

  private volatile Tally current = new Tally();
  private final List<String> findings = new ArrayList<>();
  private int found;

  Tally current() {
    return current;
  }

  /** Begins a new one; what was asked before still counts for the former. */
  Tally begin() {
    Tally next = new Tally();
    current = next;
    return next;
  }

  /** Keeps the first ones. */
  synchronized void found(String what) {
    found++;
    if (findings.size() < KEPT) {
      findings.add(what);
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
