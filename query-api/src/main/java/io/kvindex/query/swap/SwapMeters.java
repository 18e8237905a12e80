// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import io.kvindex.query.remote.ServingIndex;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Figures of changing over. */
final class SwapMeters {

  private final Counter done;
  private final Counter notStarted;
  private final Counter late;

  SwapMeters(ServingIndex index, MeterRegistry registry) {
    done =
        Counter.builder("kvindex.table.swaps")
            .description("times another application's table became the serving one")
            .register(registry);
    notStarted = problem(registry, "not_started");
    late = problem(registry, "late");
    Gauge.builder("kvindex.table.beside", () -> index.beside() == null ? 0 : 1)
        .description("1 while a second table is kept beside the one that serves")
        .register(registry);
  }

  private static Counter problem(MeterRegistry registry, String reason) {
    return Counter.builder("kvindex.table.swap.problems")
        .tag("reason", reason)
        .description("what keeps this replica from changing over, or from being done with it")
        .register(registry);
  }

  void swapped() {
    done.increment();
  }

  void notStarted() {
    notStarted.increment();
  }

  void late() {
    late.increment();
  }
}
