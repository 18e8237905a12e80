// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/**
 * Something that is done to one process.
 *
 * @param process its name, empty = the indexer that is active for most
 * @param forMs how long it stays dead or stands still
 */
record Fault(Kind kind, String process, long forMs) {

  private static final int MIN_PAUSE_MS = 2_000;

  /** What is done. */
  enum Kind {
    /** kill -9 of a broker. */
    BROKER,
    /** kill -9 of a bridge. */
    BRIDGE,
    /** kill -9 of an indexer. */
    INDEX,
    /** SIGSTOP and SIGCONT of an active indexer. */
    PAUSE;

    /** How processes of that kind are called. */
    String processes() {
      return this == PAUSE ? "index" : wireName();
    }

    /** Whether it is done to an indexer. */
    boolean isOfIndexer() {
      return this == INDEX || this == PAUSE;
    }

    /** As on the command line. */
    String wireName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * All of a round, each process once.
   *
   * @param only kinds or names of processes, empty = all
   */
  static List<Fault> round(LocalSite site, Set<String> only, int maxDownSeconds, Random random) {
    List<Fault> all = new ArrayList<>();
    int bound = maxDownSeconds * 1_000 + 1;
    for (Kind kind : Kind.values()) {
      if (kind == Kind.PAUSE) {
        all.add(new Fault(kind, "", MIN_PAUSE_MS + random.nextInt(bound)));
        continue;
      }
      for (String name : site.names(kind.processes())) {
        all.add(new Fault(kind, name, random.nextInt(bound)));
      }
    }
    all.removeIf(
        fault ->
            !only.isEmpty()
                && !only.contains(fault.kind().wireName())
                && !only.contains(fault.process()));
    return all;
  }

  Fault of(String name) {
    return new Fault(kind, name, forMs);
  }

  @Override
  public String toString() {
    return (kind == Kind.PAUSE ? "pause " : "kill -9 ") + process;
  }
}
