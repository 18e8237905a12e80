// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.util.ArrayList;
import java.util.List;

/** What was wrong. Thread-safe. */
final class Findings {

  private static final int KEPT = 20;

  private final List<String> first = new ArrayList<>();
  private int ghosts;
  private int others;

  /** An answer promised tokens that are not there. */
  synchronized void ghost(String what) {
    ghosts++;
    keep("GHOST: " + what);
  }

  /** Anything else that must not be. */
  synchronized void wrong(String what) {
    others++;
    keep("WRONG: " + what);
  }

  /** Takes over what another one has. */
  synchronized void addAll(Findings other) {
    ghosts += other.ghosts();
    others += other.count() - other.ghosts();
    other.first().forEach(this::keep);
  }

  private void keep(String what) {
    if (first.size() < KEPT && !first.contains(what)) {
      first.add(what);
    }
  }

  synchronized int ghosts() {
    return ghosts;
  }

  synchronized boolean any() {
    return ghosts + others > 0;
  }

  /** The first of them, for people. */
  synchronized List<String> first() {
    return List.copyOf(first);
  }

  synchronized int count() {
    return ghosts + others;
  }
}
