// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import io.kvindex.model.event.KvEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The meters of a bridge, all publishers together; per publisher the progress records have them.
 * Thread-safe.
 */
public final class BridgeMetrics {

  private static final String PREFIX = "kvindex.bridge.";

  private final MeterRegistry registry;
  private final Counter live;
  private final Counter replayed;
  private final Counter batches;
  private final Counter replays;
  private final Counter gapsFound;
  private final Counter gapsFilled;
  private final Counter batchesLost;
  private final Timer lag;
  private final Map<FrameOutcome, Counter> outcomes = new EnumMap<>(FrameOutcome.class);
  private final KindCounters kinds;

  /** Registers the meters. */
  public BridgeMetrics(MeterRegistry registry) {
    this.registry = registry;
    live = registry.counter(PREFIX + "frames.received", "source", "live");
    replayed = registry.counter(PREFIX + "frames.received", "source", "replay");
    batches = registry.counter(PREFIX + "batches");
    replays = registry.counter(PREFIX + "replays");
    gapsFound = registry.counter(PREFIX + "gaps", "result", "found");
    gapsFilled = registry.counter(PREFIX + "gaps", "result", "filled");
    batchesLost = registry.counter(PREFIX + "batches.lost");
    lag =
        Timer.builder(PREFIX + "lag")
            .description("from the engine's time of a batch to its acknowledgement")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    for (FrameOutcome outcome : FrameOutcome.values()) {
      outcomes.put(
          outcome, registry.counter(PREFIX + "frames.outcome", "outcome", outcome.label()));
    }
    kinds = new KindCounters(registry);
  }

  /** The registry, for gauges of others. */
  public MeterRegistry registry() {
    return registry;
  }

  /** Frames read from a socket. */
  public void received(boolean fromReplay, long count) {
    (fromReplay ? replayed : live).increment(count);
  }

  /** What became of frames. */
  public void outcome(FrameOutcome outcome, long count) {
    Counter counter = outcomes.get(outcome);
    if (counter != null) {
      counter.increment(count);
    }
  }

  /** A batch was handed to the producer. */
  public void batch(Iterable<KvEvent> events) {
    batches.increment();
    events.forEach(event -> event.accept(kinds));
  }

  /** Events left out of a batch. */
  public void skipped(String reason, long count) {
    registry.counter(PREFIX + "events.skipped", "reason", reason).increment(count);
  }

  /** Kept events worth counting. */
  public void remarked(String remark, long count) {
    registry.counter(PREFIX + "events.remarked", "remark", remark).increment(count);
  }

  /** A batch was refused as a whole. */
  public void rejected(String reason) {
    registry.counter(PREFIX + "batches.rejected", "reason", reason).increment();
  }

  /** A replay was started. */
  public void replay() {
    replays.increment();
  }

  /** Batches are missing between two frames. */
  public void gapFound() {
    gapsFound.increment();
  }

  /** A replay brought what was missing. */
  public void gapFilled() {
    gapsFilled.increment();
  }

  /** Batches that nobody can give us. */
  public void lost(long count) {
    registry.counter(PREFIX + "gaps", "result", "lost").increment();
    batchesLost.increment(count);
  }

  /** Kafka refused a record. */
  public void produceError(Exception problem) {
    registry
        .counter(PREFIX + "produce.errors", "error", problem.getClass().getSimpleName())
        .increment();
  }

  /** Kafka has a record whose batch the engine stamped with that time, 0 = unknown. */
  public void acknowledged(long sourceMicros, long nowMicros) {
    if (sourceMicros > 0) {
      lag.record(Math.max(0, nowMicros - sourceMicros), TimeUnit.MICROSECONDS);
    }
  }

  private static final class KindCounters implements KvEvent.Visitor {
    private final Counter stored;
    private final Counter removed;
    private final Counter cleared;
    private final Counter gap;
    private final Counter retired;
    private final Counter begun;

    KindCounters(MeterRegistry registry) {
      stored = registry.counter(PREFIX + "events", "kind", "stored");
      removed = registry.counter(PREFIX + "events", "kind", "removed");
      cleared = registry.counter(PREFIX + "events", "kind", "cleared");
      gap = registry.counter(PREFIX + "events", "kind", "gap");
      retired = registry.counter(PREFIX + "events", "kind", "retired");
      begun = registry.counter(PREFIX + "events", "kind", "begun");
    }

    @Override
    public void stored(KvEvent.Stored event) {
      stored.increment();
    }

    @Override
    public void removed(KvEvent.Removed event) {
      removed.increment();
    }

    @Override
    public void cleared(KvEvent.Cleared event) {
      cleared.increment();
    }

    @Override
    public void gap(KvEvent.Gap event) {
      gap.increment();
    }

    @Override
    public void retired(KvEvent.Retired event) {
      retired.increment();
    }

    @Override
    public void begun(KvEvent.Begun event) {
      begun.increment();
    }
  }
}
