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
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Every meter of the indexer. Names are public API, see docs/metrics.md. */
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

  private final Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);
  private final Map<Outcome, Counter> records = new EnumMap<>(Outcome.class);
  private final Counter recordsTaken;
  private final Counter eventsTaken;
  private final Supplier<Stream<PartitionView>> views;

  IndexMeters(MeterRegistry registry, Supplier<Stream<PartitionView>> views) {
    this.views = views;
    for (Outcome outcome : Outcome.values()) {
      String name = OF_EVENTS.contains(outcome) ? "kvindex.events" : "kvindex.block.changes";
      counters.put(
          outcome, Counter.builder(name).tag("outcome", outcome.label()).register(registry));
    }
    for (Outcome outcome : OF_RECORDS) {
      records.put(
          outcome,
          Counter.builder("kvindex.records").tag("outcome", outcome.label()).register(registry));
    }
    recordsTaken = Counter.builder("kvindex.records.taken").register(registry);
    eventsTaken = Counter.builder("kvindex.events.taken").register(registry);
    gauge(registry, "kvindex.blocks", "distinct blocks in the index", i -> i.figures().blocks());
    gauge(registry, "kvindex.owners", "live owners", i -> i.figures().owners());
    gauge(registry, "kvindex.index.bytes", "heap the index takes", i -> i.figures().bytes());
    views(
        registry,
        "kvindex.held.back",
        "records that wait for their predecessor",
        PartitionView::heldRecords);
    views(
        registry,
        "kvindex.orphans",
        "blocks whose prefix is not known yet",
        PartitionView::orphans);
  }

  private void views(
      MeterRegistry registry, String name, String what, ToLongFunction<PartitionView> figure) {
    Gauge.builder(name, () -> views.get().mapToLong(figure).sum())
        .description(what)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry, String name, String what, ToLongFunction<PrefixIndex> figure) {
    Gauge.builder(name, () -> sum(figure)).description(what).register(registry);
  }

  private double sum(ToLongFunction<PrefixIndex> figure) {
    return views.get().flatMap(view -> view.tables().values().stream()).mapToLong(figure).sum();
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
