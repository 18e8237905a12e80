// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.fold.Counts;
import io.kvindex.streams.fold.Outcome;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Meters of the fold and of its tables. Names are public API, see docs/metrics.md. */
final class IndexMeters implements Counts {

  private static final Set<Outcome> OF_EVENTS =
      EnumSet.of(
          Outcome.APPLIED,
          Outcome.DUPLICATE,
          Outcome.STALE_INCARNATION,
          Outcome.HELD_BACK,
          Outcome.GAP,
          Outcome.UNDECODABLE,
          Outcome.LEFT_OUT);

  private static final Set<Outcome> OF_RECORDS =
      EnumSet.of(
          Outcome.APPLIED,
          Outcome.DUPLICATE,
          Outcome.STALE_INCARNATION,
          Outcome.HELD_BACK,
          Outcome.UNDECODABLE);

  private final MeterRegistry registry;
  private final Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);
  private final Map<Outcome, Counter> records = new EnumMap<>(Outcome.class);
  private final Counter recordsTaken;
  private final Counter eventsTaken;

  IndexMeters(MeterRegistry registry) {
    this.registry = registry;
    for (Outcome outcome : Outcome.values()) {
      String name = OF_EVENTS.contains(outcome) ? "kvindex.events" : "kvindex.block.changes";
      counters.put(outcome, registry.counter(name, "outcome", outcome.label()));
    }
    for (Outcome outcome : OF_RECORDS) {
      records.put(outcome, registry.counter("kvindex.records", "outcome", outcome.label()));
    }
    recordsTaken = registry.counter("kvindex.records.taken");
    eventsTaken = registry.counter("kvindex.events.taken");
  }

  /**
   * Adds what the tables come to, and how each partition stands.
   *
   * @param checkpointAge of a partition, seconds
   */
  void watch(IndexPartitions of, IntToDoubleFunction checkpointAge) {
    indexes(of, "kvindex.blocks", "distinct blocks in the index", i -> i.figures().blocks());
    indexes(of, "kvindex.owners", "live owners", i -> i.figures().owners());
    indexes(of, "kvindex.index.bytes", "heap the index takes", i -> i.figures().bytes());
    views(
        of,
        "kvindex.held.back",
        "records that wait for their predecessor",
        PartitionView::heldRecords);
    views(of, "kvindex.orphans", "blocks whose prefix is not known yet", PartitionView::orphans);
    for (int p = 0; p < of.partitions(); p++) {
      partition(
          p,
          "kvindex.partition.ready",
          "1 where answers about the partition can be trusted here",
          null,
          partition -> of.notReadyReason(partition) == null ? 1 : 0);
      partition(
          p,
          "kvindex.partition.progress",
          "how far borrowing, loading or catching up is, 0 to 1",
          null,
          partition -> of.progress(partition).percent() / 100);
      partition(
          p,
          "kvindex.partition.age",
          "how long what is not applied here may have waited in the log",
          "seconds",
          partition -> of.ageMs(partition) / 1e3);
      partition(
          p,
          "kvindex.kafka.lag",
          "records of the events topic not applied yet",
          null,
          of::recordsBehind);
      partition(
          p,
          "kvindex.checkpoint.age",
          "since the last checkpoint was written, 0 where nothing was folded since",
          "seconds",
          checkpointAge);
    }
  }

  private void indexes(
      IndexPartitions of, String name, String what, ToLongFunction<PrefixIndex> figure) {
    views(of, name, what, view -> view.tables().values().stream().mapToLong(figure).sum());
  }

  private void views(
      IndexPartitions of, String name, String what, ToLongFunction<PartitionView> figure) {
    Gauge.builder(
            name,
            () ->
                IntStream.range(0, of.partitions())
                    .<@Nullable PartitionView>mapToObj(of::view)
                    .flatMap(Stream::ofNullable)
                    .mapToLong(figure)
                    .sum())
        .description(what)
        .register(registry);
  }

  private void partition(
      int partition, String name, String what, @Nullable String unit, IntToDoubleFunction figure) {
    Gauge.builder(name, () -> figure.applyAsDouble(partition))
        .tag("partition", Integer.toString(partition))
        .baseUnit(unit)
        .description(what)
        .register(registry);
  }

  @Override
  public void taken(int events) {
    recordsTaken.increment();
    eventsTaken.increment(events);
  }

  @Override
  public void record(Outcome outcome, int events) {
    add(outcome, events);
    add(records.get(outcome), 1);
  }

  @Override
  public void add(Outcome outcome, long n) {
    add(counters.get(outcome), n);
  }

  private static void add(@Nullable Counter counter, long n) {
    if (counter != null) {
      counter.increment(n);
    }
  }
}
