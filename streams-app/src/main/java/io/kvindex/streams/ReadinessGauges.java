// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** How far each partition is, for those who watch. */
final class ReadinessGauges {

  private static final double PERCENT = 100;

  private ReadinessGauges() {}

  static void register(IndexPartitions partitions, MeterRegistry registry) {
    for (int i = 0; i < partitions.partitions(); i++) {
      int partition = i;
      Gauge.builder(
              "kvindex.partition.ready", () -> partitions.notReadyReason(partition) == null ? 1 : 0)
          .tag("partition", Integer.toString(i))
          .description("1 where answers about the partition can be trusted here")
          .register(registry);
      Gauge.builder(
              "kvindex.partition.progress",
              () -> partitions.progress(partition).percent() / PERCENT)
          .tag("partition", Integer.toString(i))
          .description("how far borrowing, loading or catching up is, 0 to 1")
          .register(registry);
      Gauge.builder("kvindex.partition.age", () -> partitions.ageMs(partition) / 1_000.0)
          .tag("partition", Integer.toString(i))
          .baseUnit("seconds")
          .description("how long what is not applied here may have waited in the log")
          .register(registry);
    }
  }
}
