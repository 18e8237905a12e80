// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.apply.Counts;
import io.kvindex.streams.apply.Outcome;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/** Every meter of the indexer. Names are public API, see docs/metrics.md. */
final class IndexMeters implements Counts {

  private static final Set<Outcome> OF_EVENTS =
      EnumSet.of(
          Outcome.APPLIED,
          Outcome.DUPLICATE,
          Outcome.STALE_INCARNATION,
          Outcome.HELD_BACK,
          Outcome.GAP,
          Outcome.UNDECODABLE);

  private final Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);
  private final Map<Integer, PartitionView> views;

  IndexMeters(MeterRegistry registry, Map<Integer, PartitionView> views) {
    this.views = views;
    for (Outcome outcome : Outcome.values()) {
      String name = OF_EVENTS.contains(outcome) ? "kvindex.events" : "kvindex.block.changes";
      counters.put(
          outcome, Counter.builder(name).tag("outcome", outcome.label()).register(registry));
    }
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
    Gauge.builder(name, () -> views.values().stream().mapToLong(figure).sum())
        .description(what)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry, String name, String what, ToLongFunction<PrefixIndex> figure) {
    Gauge.builder(name, () -> sum(figure)).description(what).register(registry);
  }

  private double sum(ToLongFunction<PrefixIndex> figure) {
    return views.values().stream()
        .flatMap(view -> view.tables().values().stream())
        .mapToLong(figure)
        .sum();
  }

  @Override
  public void add(Outcome outcome, long n) {
    Counter counter = counters.get(outcome);
    if (counter != null) {
      counter.increment(n);
    }
  }
}
