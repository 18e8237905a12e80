// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * What is counted of checkpoints, for all tables of a process together.
 *
 * @param written checkpoints
 * @param rows rows written for them
 * @param failures tries to write one that failed
 * @param waitSeconds how long folds have waited for the disk
 */
public record CheckpointMeters(
    Counter written, Counter rows, Counter failures, Counter waitSeconds) {

  /**
   * Adds them where they are not there yet. To be done before there is a table: what was never seen
   * at 0 does not seem to grow when it begins.
   */
  public static CheckpointMeters register(MeterRegistry metrics) {
    return new CheckpointMeters(
        counter("kvindex.checkpoints", "checkpoints written", metrics),
        counter("kvindex.checkpoint.rows", "rows written for them", metrics),
        counter("kvindex.checkpoint.failures", "tries to write one that failed", metrics),
        counter(
            "kvindex.checkpoint.wait.seconds",
            "how long the fold has waited for the disk",
            metrics));
  }

  private static Counter counter(String name, String what, MeterRegistry metrics) {
    return Counter.builder(name).description(what).register(metrics);
  }
}
