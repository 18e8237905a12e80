// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.RegistrationTable;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** {@code GET /health}, {@code /ready}, {@code /metrics}, {@code /workers}. */
public final class StatusRoutes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final IndexAccess index;
  private final RegistrationTable registrations;
  private final Readiness readiness;
  private final PublisherReports reports;
  private final PrometheusMeterRegistry metrics;

  /**
   * @param minInitialWorkers instances that must be registered before the replica is ready, 0 =
   *     none
   */
  public StatusRoutes(
      RegistrationTable registrations,
      ProgressTable progress,
      IndexAccess index,
      PrometheusMeterRegistry metrics,
      int minInitialWorkers) {
    this.registrations = registrations;
    this.index = index;
    readiness = new Readiness(registrations, index, minInitialWorkers);
    this.reports = new PublisherReports(registrations::snapshot, progress::get, index);
    this.metrics = metrics;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/health", ctx -> ctx.result("{\"status\":\"up\"}"));
    routes.get(
        "/ready",
        ctx -> {
          String reason =
              readiness.whyNotReady(
                  ctx.queryParam("tenant_id"),
                  ctx.queryParam("model"),
                  ctx.queryParam("block_size"));
          if (reason != null) {
            throw ApiException.of(ErrorCode.NOT_READY, reason);
          }
          ctx.result(ready(index.warning()));
        });
    routes.get("/metrics", ctx -> ctx.contentType(PROMETHEUS_TEXT).result(metrics.scrape()));
    routes.get("/workers", this::workers);
  }

  private static String ready(@Nullable String warning) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("status", "ready");
    if (warning != null) {
      json.put("warning", warning);
    }
    return json.toString();
  }

  /**
   * The filters are Dynamo's; its {@code tenant_id} filter has no effect there since v1.3, and none
   * here.
   */
  private void workers(Context ctx) {
    registrations.whole();
    @Nullable String model = ctx.queryParam("model_name");
    @Nullable String group = ctx.queryParam("routing_group");
    List<PublisherReport> wanted =
        reports.now().stream()
            .filter(one -> model == null || model.equals(registration(one).table().model()))
            .filter(one -> group == null || group.equals(registration(one).publisher().tenantId()))
            .toList();
    ctx.result(new WorkersJson(wanted, nowMicros()).write());
  }

  private static Registration registration(PublisherReport report) {
    return report.registered().registration();
  }

  /** Shows in {@code /metrics} what {@code /workers} says; to be taken back with the same. */
  public MultiCollector publisherMeters() {
    return new PublisherMeters(reports, StatusRoutes::nowMicros);
  }

  private static long nowMicros() {
    return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
  }

  /** {@code /ready} says no from now on, so that nobody sends more; what comes is answered. */
  public void drain() {
    readiness.drain();
  }

  /** Why queries can not be answered yet, null if they can. */
  public @Nullable String whyNotServing() {
    return readiness.whyNotServing();
  }
}
