// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.QueryForm;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** The meters of the request path, looked up once so that a request only adds. Thread-safe. */
final class HttpMeters {
  private static final Duration[] BUCKETS =
      LongStream.of(20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 200_000, 1_000_000)
          .mapToObj(micros -> Duration.of(micros, ChronoUnit.MICROS))
          .toArray(Duration[]::new);

  private static final String BATCH = "query_batch";
  private static final String REPLICA = "replica";

  private final Timer[] latency = new Timer[QueryForm.values().length];
  private final Counter[] items = new Counter[QueryForm.values().length];
  private final Timer batchLatency;
  private final Counter batchItems;
  private final Timer replicaLatency;
  private final Counter[] refused = new Counter[ErrorCode.values().length];

  /**
   * @param inFlight queries being read or answered right now
   */
  HttpMeters(MeterRegistry registry, Supplier<Number> inFlight) {
    for (QueryForm form : QueryForm.values()) {
      latency[form.ordinal()] = latency(registry, form.label());
      items[form.ordinal()] = items(registry, form.label());
    }
    batchLatency = latency(registry, BATCH);
    batchItems = items(registry, BATCH);
    replicaLatency = latency(registry, REPLICA);
    for (ErrorCode code : ErrorCode.values()) {
      refused[code.ordinal()] =
          Counter.builder("kvindex.http.refused")
              .description("Requests refused, by reason")
              .tag("reason", code.reason())
              .register(registry);
    }
    Gauge.builder("kvindex.http.in.flight", inFlight)
        .description("Queries being read or answered")
        .register(registry);
  }

  private static Timer latency(MeterRegistry registry, String route) {
    return Timer.builder("kvindex.query.latency")
        .description("Time from the first byte of a query to its answer")
        .tag("route", route)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  private static Counter items(MeterRegistry registry, String route) {
    return Counter.builder("kvindex.query.items")
        .description("Tokens or hashes asked for")
        .tag("route", route)
        .register(registry);
  }

  /** A batch, whose queries are not counted one by one. */
  void batchAnswered(long nanos, long count) {
    batchLatency.record(nanos, TimeUnit.NANOSECONDS);
    batchItems.increment(count);
  }

  /** A question of another replica. */
  void replicaAnswered(long nanos) {
    replicaLatency.record(nanos, TimeUnit.NANOSECONDS);
  }

  void answered(QueryForm form, long nanos, int count) {
    latency[form.ordinal()].record(nanos, TimeUnit.NANOSECONDS);
    items[form.ordinal()].increment(count);
  }

  void refused(ErrorCode code) {
    refused[code.ordinal()].increment();
  }
}
