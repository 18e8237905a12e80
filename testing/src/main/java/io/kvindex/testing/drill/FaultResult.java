// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.List;

/**
 * What a router met from a fault on until the process was ready and answers were fresh again.
 *
 * @param round from 1
 * @param faultNs when it began, {@link System#nanoTime}
 * @param readyMs from there until the process was ready; -1 = it was not in time
 * @param calmMs from there until answers were fresh; -1 = they were not in time
 * @param peakNs age of the oldest event an answer did not show
 * @param windows in which a replica was more than a second behind
 */
record FaultResult(
    int round,
    Fault fault,
    long faultNs,
    long readyMs,
    long calmMs,
    long peakNs,
    List<Staleness.Window> windows,
    Tally tally) {

  double staleSeconds() {
    return peakNs / 1e9;
  }

  /** Whether everything was as promised. */
  boolean isKept(DrillOptions options) {
    return readyMs >= 0
        && calmMs >= 0
        && areAnswersRight(tally)
        && peakNs <= options.allowedStaleMs() * 1_000_000
        && tally.latencies.percentileMs(0.99) <= options.allowedP99Ms()
        && (!fault.kind().isOfIndexer() || options.untimed() || areOthersUntouched(options));
  }

  /** What an indexer loses costs the others nothing. */
  private boolean areOthersUntouched(DrillOptions options) {
    return windows.stream().allMatch(window -> window.replica().equals(fault.process()))
        && tally.survivors.percentileMs(0.99) <= options.allowedSurvivorP99Ms();
  }

  static boolean areAnswersRight(Tally tally) {
    return tally.failed.get() == 0
        && tally.wrong.get() == 0
        && tally.late.get() == 0
        && tally.refused.get() == 0;
  }
}
