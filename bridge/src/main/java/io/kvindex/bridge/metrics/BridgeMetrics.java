// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import io.kvindex.model.event.BatchTrace;
import io.kvindex.model.event.KvEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
  private final Counter batchesLost;
  private final Counter resets;
  private final Timer lag;
  private final Timer decode;
  private final Timer produce;
  private final Timer acknowledge;
  private final Map<FrameOutcome, Counter> outcomes;
  private final Map<EventLabel, Counter> kinds;
  private final Map<GapResult, Counter> gaps;

  /** Registers the meters. */
  public BridgeMetrics(MeterRegistry registry) {
    this.registry = registry;
    live = registry.counter(PREFIX + "frames.received", "source", "live");
    replayed = registry.counter(PREFIX + "frames.received", "source", "replay");
    batches = registry.counter(PREFIX + "batches");
    replays = registry.counter(PREFIX + "replays");
    batchesLost = registry.counter(PREFIX + "batches.lost");
    resets = registry.counter(PREFIX + "gap.resets");
    lag =
        Timer.builder(PREFIX + "lag")
            .description("from the engine's time of a batch to its acknowledgement")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    decode = stage(registry, "decode");
    produce = stage(registry, "produce");
    acknowledge = stage(registry, "acknowledge");
    outcomes = counters(registry, FrameOutcome.class, PREFIX + "frames.outcome", "outcome");
    kinds = counters(registry, EventLabel.class, PREFIX + "events", "kind");
    gaps = counters(registry, GapResult.class, PREFIX + "gaps", "result");
  }

  private static Timer stage(MeterRegistry registry, String stage) {
    return Timer.builder("kvindex.stage")
        .description(BatchTrace.METRIC_DESCRIPTION)
        .tag("stage", stage)
        .serviceLevelObjectives(BatchTrace.bucketEdges())
        .register(registry);
  }

  private static <E extends Enum<E> & Labelled> Map<E, Counter> counters(
      MeterRegistry registry, Class<E> type, String name, String tag) {
    Map<E, Counter> counters = new EnumMap<>(type);
    for (E constant : type.getEnumConstants()) {
      counters.put(constant, registry.counter(name, tag, constant.label()));
    }
    return counters;
  }

  /** Frames read from a socket. */
  public void received(boolean fromReplay, long count) {
    (fromReplay ? replayed : live).increment(count);
  }

  /** What became of frames. */
  public void outcome(FrameOutcome outcome, long count) {
    add(outcomes.get(outcome), count);
  }

  /** A batch was handed to the producer. */
  public void batch(Iterable<KvEvent> events) {
    batch(EventLabel.count(events));
  }

  /** The same, counted already. */
  public void batch(Map<EventLabel, Long> events) {
    batches.increment();
    events.forEach((kind, count) -> add(kinds.get(kind), count));
  }

  private static void add(@Nullable Counter counter, long count) {
    if (counter != null) {
      counter.increment(count);
    }
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

  /** A hole between two batches was met, or came to an end. */
  public void gap(GapResult result) {
    add(gaps.get(result), 1);
  }

  /** Batches that nobody can give us. */
  public void lost(long count) {
    batchesLost.increment(count);
  }

  /** Everything a publisher announced was thrown away, as something of it is lost. */
  public void reset() {
    resets.increment();
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

  /** A traced batch is about to be given to the producer. */
  public void traced(BatchTrace trace) {
    between(trace.readMicros(), trace.decodedMicros(), decode);
    between(trace.decodedMicros(), trace.producedMicros(), produce);
  }

  /** Kafka has all of a traced batch. */
  public void traceAcknowledged(long producedMicros, long nowMicros) {
    between(producedMicros, nowMicros, acknowledge);
  }

  /** A clock that was set back meanwhile is no reason to count it less. */
  private static void between(long micros, long laterMicros, Timer stage) {
    stage.record(Math.max(0, laterMicros - micros), TimeUnit.MICROSECONDS);
  }
}
