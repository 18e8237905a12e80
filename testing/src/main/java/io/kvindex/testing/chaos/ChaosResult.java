// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.util.List;

/**
 * What came of a run.
 *
 * @param seed the run's
 * @param seconds how long it took
 * @param messages live messages of all engines
 * @param harmed messages that were dropped, duplicated, reordered or truncated
 * @param engineRestarts engines restarted
 * @param ownRestarts our own processes restarted after {@code kill -9}
 * @param judged answers judged while things went wrong
 * @param compared rows compared when all was quiet
 * @param ghosts answers that promised what is not there
 * @param wrong ghosts and everything else that must not be; 0 = the run was right
 * @param first the first of them, for people
 */
public record ChaosResult(
    long seed,
    double seconds,
    long messages,
    long harmed,
    int engineRestarts,
    int ownRestarts,
    long judged,
    int compared,
    int ghosts,
    int wrong,
    List<String> first) {

  /** A run that could not go on. */
  static ChaosResult brokenOff(long seed, double seconds, Exception why) {
    return new ChaosResult(seed, seconds, 0, 0, 0, 0, 0, 0, 0, 1, List.of("broke off: " + why));
  }

  /** Whether nothing was wrong. */
  public boolean isRight() {
    return wrong == 0;
  }
}
