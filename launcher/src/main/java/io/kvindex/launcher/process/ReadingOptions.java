// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.follow.GapPolicy;
import picocli.CommandLine.Option;

/**
 * How a process that reads engines deals with what it can not read, or did not get, and what it
 * measures.
 */
final class ReadingOptions {

  private enum OnOff {
    ON,
    OFF
  }

  @Option(
      names = "--quarantine-raw",
      paramLabel = "on|off",
      description =
          "Whether undecodable batches are kept with their bytes, which hold token ids (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_QUARANTINE_RAW:-on}")
  private OnOff rawQuarantine;

  @Option(
      names = "--gap-policy",
      paramLabel = "keep|reset",
      description =
          "What becomes of an engine's blocks once events of it are lost for good: keep them and name"
              + " it degraded, or reset it, so that nothing is promised that is gone"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_GAP_POLICY:-keep}")
  private GapPolicy gapPolicy;

  @Option(
      names = "--trace-one-in",
      paramLabel = "N",
      description =
          "Measures how long one batch of each engine in N, the first one included, takes from its frame to"
              + " the answers (kvindex_stage_seconds); 0 = none (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_TRACE_ONE_IN:-1000}")
  private int traceOneIn;

  /** Whether undecodable batches are kept with their bytes. */
  boolean rawQuarantine() {
    return rawQuarantine == OnOff.ON;
  }

  /** What becomes of blocks once events are lost for good. */
  GapPolicy gapPolicy() {
    return gapPolicy;
  }

  /** One batch in so many is traced, 0 = none. */
  int traceOneIn() {
    if (traceOneIn < 0) {
      throw new IllegalArgumentException("--trace-one-in must be 0 or more, got " + traceOneIn);
    }
    return traceOneIn;
  }
}
