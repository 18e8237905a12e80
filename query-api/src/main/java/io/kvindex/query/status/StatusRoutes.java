// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.javalin.config.RoutesConfig;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.RegistrationTable;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** {@code GET /health}, {@code /ready}, {@code /metrics}, {@code /workers}. */
public final class StatusRoutes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final RegistrationTable registrations;
  private final PublisherReports reports;
  private final IndexAccess index;
  private final PrometheusMeterRegistry metrics;

  public StatusRoutes(
      RegistrationTable registrations,
      ProgressTable progress,
      IndexAccess index,
      PrometheusMeterRegistry metrics) {
    this.registrations = registrations;
    this.reports = new PublisherReports(registrations::snapshot, progress::get, index);
    this.index = index;
    this.metrics = metrics;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/health", ctx -> ctx.result("{\"status\":\"up\"}"));
    routes.get(
        "/ready",
        ctx -> {
          String reason = notReadyReason();
          if (reason != null) {
            throw ApiException.of(ErrorCode.NOT_READY, reason);
          }
          ctx.result("{\"status\":\"ready\"}");
        });
    routes.get("/metrics", ctx -> ctx.contentType(PROMETHEUS_TEXT).result(metrics.scrape()));
    routes.get("/workers", ctx -> ctx.result(new WorkersJson(reports.now(), nowMicros()).write()));
  }

  /** Shows in {@code /metrics} what {@code /workers} says; to be taken back with the same. */
  public MultiCollector publisherMeters() {
    return new PublisherMeters(reports, StatusRoutes::nowMicros);
  }

  private static long nowMicros() {
    return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
  }

  private @Nullable String notReadyReason() {
    return registrations.caughtUp()
        ? index.notReadyReason()
        : "registrations are still being read from Kafka";
  }
}
