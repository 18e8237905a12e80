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

  /** A kind of question. */
  private record Route(Timer latency, Counter items) {}

  private final Route[] forms = new Route[QueryForm.values().length];
  private final Route batch;
  private final Timer replica;
  private final Counter[] refused = new Counter[ErrorCode.values().length];

  /**
   * @param inFlight queries being read or answered right now
   */
  HttpMeters(MeterRegistry registry, Supplier<Number> inFlight) {
    for (QueryForm form : QueryForm.values()) {
      forms[form.ordinal()] = route(registry, form.label());
    }
    batch = route(registry, "query_batch");
    replica = latency(registry, "replica");
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

  private static Route route(MeterRegistry registry, String route) {
    Counter items =
        Counter.builder("kvindex.query.items")
            .description("Tokens or hashes asked for")
            .tag("route", route)
            .register(registry);
    return new Route(latency(registry, route), items);
  }

  /** A batch, whose queries are not counted one by one. */
  void batchAnswered(long nanos, long count) {
    count(batch, nanos, count);
  }

  /** A question of another replica. */
  void replicaAnswered(long nanos) {
    replica.record(nanos, TimeUnit.NANOSECONDS);
  }

  void answered(QueryForm form, long nanos, int count) {
    count(forms[form.ordinal()], nanos, count);
  }

  private static void count(Route route, long nanos, long items) {
    route.latency().record(nanos, TimeUnit.NANOSECONDS);
    route.items().increment(items);
  }

  void refused(ErrorCode code) {
    refused[code.ordinal()].increment();
  }
}
