// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** What happened to tables and to the log they are folded from. Thread-safe. */
final class TableMeters {

  private final Counter lostEnds;
  private final Counter failedFolds;
  final Counter failedLoads;
  final Counter missing;
  final Counter doubts;

  TableMeters(MeterRegistry registry) {
    lostEnds = refused(Refusal.Cause.LOG_LOST_END, registry);
    failedFolds = refused(Refusal.Cause.FOLD_FAILED, registry);
    failedLoads =
        Counter.builder("kvindex.tables.load.failures")
            .description("tables that could not be loaded, each try")
            .register(registry);
    missing =
        Counter.builder("kvindex.log.records.missing")
            .description("records deleted from the events topic before they were read")
            .register(registry);
    doubts =
        Counter.builder("kvindex.log.doubts")
            .description("records out of turn, for which reading began again at the last folded")
            .register(registry);
  }

  private static Counter refused(Refusal.Cause cause, MeterRegistry registry) {
    return Counter.builder("kvindex.tables.refused")
        .description("tables thrown away while they were in use")
        .tag("cause", cause.label())
        .register(registry);
  }

  void refused(Refusal.Cause cause) {
    switch (cause) {
      case LOG_LOST_END -> lostEnds.increment();
      case FOLD_FAILED -> failedFolds.increment();
    }
  }
}
