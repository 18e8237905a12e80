// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How old answers were, as markers told: windows in which a replica that answered did not show what
 * was sent more than a second before. Thread-safe. Times are {@link System#nanoTime}.
 */
final class Staleness {

  /** What is younger counts as fresh. */
  static final long FRESH_NS = TimeUnit.SECONDS.toNanos(1);

  private final Map<String, Window> open = new HashMap<>();
  private final Map<String, Long> lastNs = new HashMap<>();
  private final Map<String, Long> staleNs = new HashMap<>();
  private final List<Window> closed = new ArrayList<>();
  private long peakNs;

  /**
   * A replica that stood still.
   *
   * @param startNs when the oldest event was sent that was missing at the beginning
   * @param endNs when it had caught up, or was asked last
   * @param peakNs age of the oldest event that was missing at any time in it
   * @param what which events these were
   */
  record Window(String replica, long startNs, long endNs, long peakNs, String what) {

    private Window and(long atNs, long ageNs, String missing) {
      return new Window(
          replica, startNs, atNs, Math.max(peakNs, ageNs), ageNs > peakNs ? missing : what);
    }
  }

  /**
   * An answer to a question sent at that time.
   *
   * @param ageNs age then of the oldest event it does not show, 0 = it shows all
   * @param missing which event that is
   */
  synchronized void observe(String replica, long atNs, long ageNs, String missing) {
    lastNs.put(replica, atNs);
    peakNs = Math.max(peakNs, ageNs);
    Window before = open.get(replica);
    if (ageNs > FRESH_NS) {
      staleNs.put(replica, atNs);
      open.put(
          replica,
          before == null
              ? new Window(replica, atNs - ageNs, atNs, ageNs, missing)
              : before.and(atNs, ageNs, missing));
    } else if (before != null) {
      open.remove(replica);
      closed.add(before.and(atNs, ageNs, missing));
    }
  }

  /** Forgets what was over before. */
  synchronized void begin() {
    closed.clear();
    peakNs = 0;
  }

  /** Age of the oldest event any answer did not show, since {@link #begin}. */
  synchronized long peakNs() {
    return peakNs;
  }

  /** The same, or since it was taken last. */
  synchronized long takePeakNs() {
    long peak = peakNs;
    peakNs = 0;
    return peak;
  }

  /** All windows since {@link #begin}, those that are not over as well. */
  synchronized List<Window> windows() {
    List<Window> all = new ArrayList<>(closed);
    all.addAll(open.values());
    return all;
  }

  /** Whether each of them has answered since, and none was behind, from that time on. */
  synchronized boolean isCalm(List<String> replicas, long sinceNs) {
    for (String replica : replicas) {
      Long last = lastNs.get(replica);
      Long stale = staleNs.get(replica);
      if (last == null || last - sinceNs < 0 || stale != null && stale - sinceNs >= 0) {
        return false;
      }
    }
    return true;
  }
}
