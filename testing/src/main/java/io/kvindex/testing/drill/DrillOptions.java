// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A drill.
 *
 * @param script {@code deploy/local-cluster.sh}
 * @param directory the cluster's
 * @param rounds how often each fault happens, at least 1
 * @param only kinds of faults, or processes, to be had; empty = all
 * @param seed of the faults' order in time and of the load
 * @param load what engines and routers do
 * @param maxDownSeconds longest time a killed process is left dead
 * @param tuned whether processes are started for short staleness
 * @param untimed whether only what is answered is judged, not how fast and how fresh
 * @param rolling whether everything is restarted in order in place of being killed
 * @param outageSeconds how long all of Kafka is away in place of single kills, 0 = it is not
 * @param report a file for the results as JSON lines, null = none
 * @param verbose whether each step is printed in place of a progress bar
 */
record DrillOptions(
    Path script,
    Path directory,
    int rounds,
    Set<String> only,
    long seed,
    Load load,
    int maxDownSeconds,
    boolean tuned,
    boolean untimed,
    boolean rolling,
    int outageSeconds,
    @Nullable Path report,
    boolean verbose) {

  /**
   * What engines and routers do.
   *
   * @param operations blocks stored and evicted a second, by all engines together
   * @param queries questions a second
   * @param instances engines
   * @param batches an engine sends a second, markers among them
   * @param blocks an engine's cache
   * @param replayBatches batches an engine can send again
   */
  record Load(
      int operations, int queries, int instances, int batches, int blocks, int replayBatches) {}

  private static final long FOR_EVER_MS = 120_000;

  /** How long a replica has to answer before its request has failed. */
  Duration requestTimeout() {
    return Duration.ofSeconds(untimed ? 10 : 1);
  }

  /** How old an answer may be, in ms. */
  long allowedStaleMs() {
    if (outageSeconds > 0) {
      return outageSeconds * 1_000L + FOR_EVER_MS;
    }
    return untimed ? FOR_EVER_MS : tuned ? 4_000 : 8_000;
  }

  /** What 99 of 100 queries may take during a fail-over, in ms. */
  long allowedP99Ms() {
    return untimed ? FOR_EVER_MS : 300;
  }

  /** What 99 of 100 requests to the other replicas may take while one is lost, in ms. */
  long allowedSurvivorP99Ms() {
    return untimed ? FOR_EVER_MS : 100;
  }
}
