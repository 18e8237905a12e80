// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.checkpoint.CheckpointState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How the checkpoints stand, for those who watch. Any thread. */
final class CheckpointMeters {

  private final int partitions;
  private final IntFunction<@Nullable FoldedPartition> tables;
  private final IntFunction<@Nullable CheckpointState> figures;

  /**
   * @param tables in use, by partition
   * @param figures of all tables there were, by partition
   */
  CheckpointMeters(
      int partitions,
      IntFunction<@Nullable FoldedPartition> tables,
      IntFunction<@Nullable CheckpointState> figures,
      MeterRegistry registry) {
    this.partitions = partitions;
    this.tables = tables;
    this.figures = figures;
    for (int p = 0; p < partitions; p++) {
      int partition = p;
      Gauge.builder("kvindex.checkpoint.age", () -> ageSeconds(partition))
          .tag("partition", Integer.toString(p))
          .baseUnit("seconds")
          .description("since the last checkpoint was written, 0 where nothing was folded since")
          .register(registry);
    }
    counter(registry, "kvindex.checkpoints", "checkpoints written", s -> s.checkpoints());
    counter(registry, "kvindex.checkpoint.rows", "rows written for them", s -> s.rows());
    counter(
        registry,
        "kvindex.checkpoint.failures",
        "tries to write one that failed",
        s -> s.failures());
    FunctionCounter.builder(
            "kvindex.checkpoint.wait.seconds", this, me -> me.sum(s -> s.waited().toNanos() / 1e9))
        .description("how long the fold has waited for the disk")
        .register(registry);
  }

  private void counter(
      MeterRegistry registry, String name, String what, ToDoubleFunction<CheckpointState> figure) {
    FunctionCounter.builder(name, this, me -> me.sum(figure)).description(what).register(registry);
  }

  private double sum(ToDoubleFunction<CheckpointState> figure) {
    return IntStream.range(0, partitions)
        .mapToObj(figures)
        .filter(state -> state != null)
        .mapToDouble(figure)
        .sum();
  }

  private double ageSeconds(int partition) {
    FoldedPartition table = tables.apply(partition);
    if (table == null) {
      return 0;
    }
    CheckpointState state = table.checkpointState();
    return state.folded().offset() >= table.foldedOffset() ? 0 : state.age().toMillis() / 1e3;
  }

  /** What is wrong with the checkpoints, for people; null = nothing. */
  @Nullable String problem() {
    for (int p = 0; p < partitions; p++) {
      FoldedPartition table = tables.apply(p);
      CheckpointState state = table == null ? null : table.checkpointState();
      if (state != null && (state.failing() || state.stopped())) {
        return String.format(
            Locale.ROOT,
            "the checkpoint of partition %d is %.0f s old, as its disk fails: %s",
            p,
            ageSeconds(p),
            state.stopped()
                ? "none is written any more, and the next start may have to borrow one"
                : "writing is tried again");
      }
    }
    return null;
  }
}
