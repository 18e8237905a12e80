// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryParameter;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationTable;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.IndexPartitions;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /health}, {@code /ready}, {@code /metrics}, {@code /workers}. Whether this replica is
 * ready for traffic is told as a whole or for one context. Thread-safe.
 */
public final class StatusRoutes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final int ANY_BLOCK_SIZE = 0;

  private final RegistrationTable registrations;
  private final ProgressTable progress;
  private final IndexAccess index;
  private final PrometheusMeterRegistry metrics;
  private final int minInitialWorkers;
  private volatile boolean workersSeen;
  private volatile boolean draining;

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
    this.progress = progress;
    this.index = index;
    this.metrics = metrics;
    this.minInitialWorkers = minInitialWorkers;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/health", ctx -> ctx.result("{\"status\":\"up\"}"));
    routes.get("/ready", this::ready);
    routes.get("/metrics", ctx -> ctx.contentType(PROMETHEUS_TEXT).result(metrics.scrape()));
    routes.get("/workers", this::workers);
  }

  private void ready(Context ctx) {
    String model = ctx.queryParam("model");
    int blockSize =
        QueryParameter.number(ctx, "block_size", ANY_BLOCK_SIZE, 1, TableId.MAX_BLOCK_SIZE);
    String reason =
        draining
            ? IndexPartitions.LEAVING
            : model == null
                ? whyNotReady()
                : whyNotReady(ctx.queryParam("tenant_id"), model, blockSize);
    if (reason != null) {
      throw ErrorCode.NOT_READY.because(reason);
    }
    ObjectNode json = ControlReplies.object().put("status", "ready");
    String warning = index.warning(); // once: the next time there may be none any more
    if (warning != null) {
      json.put("warning", warning);
    }
    ctx.result(json.toString());
  }

  private @Nullable String whyNotReady() {
    String reason = whyNotServing();
    return reason == null && !workersSeen ? missingWorkers() : reason;
  }

  /**
   * Why one context should get no traffic, null if it may. What is registered nowhere is answered
   * by no table, and so there is nothing to wait for.
   *
   * @param tenant null = the default one
   * @param blockSize {@link #ANY_BLOCK_SIZE} = all of the model
   */
  private @Nullable String whyNotReady(@Nullable String tenant, String model, int blockSize) {
    if (!registrations.caughtUp()) {
      return RegistrationTable.UNREAD;
    }
    for (Registered one : registrations.snapshot().all()) {
      TableId table = one.registration().table();
      if (table.model().equals(model)
          && table.tenantId().equals(tenant == null ? PublisherId.DEFAULT_TENANT : tenant)
          && (blockSize == ANY_BLOCK_SIZE || blockSize == table.blockSize())) {
        String reason = index.notReadyReason(table);
        if (reason != null) {
          return reason;
        }
      }
    }
    return null;
  }

  /** Why queries can not be answered yet, null if they can. */
  public @Nullable String whyNotServing() {
    return registrations.caughtUp() ? index.notReadyReason() : RegistrationTable.UNREAD;
  }

  /** Only the first workers are waited for: one that goes later closes nothing. */
  private @Nullable String missingWorkers() {
    long workers =
        registrations.snapshot().all().stream()
            .map(Registered::registration)
            .filter(one -> !one.type().isPool())
            .map(Registration::publisher)
            .map(one -> List.of(one.tenantId(), one.instanceId()))
            .distinct()
            .count();
    workersSeen = workers >= minInitialWorkers;
    return workersSeen
        ? null
        : workers + " of the " + minInitialWorkers + " initial workers are registered";
  }

  /**
   * The filters are Dynamo's; its {@code tenant_id} filter has no effect there since v1.3, and none
   * here.
   */
  private void workers(Context ctx) {
    registrations.whole();
    String model = ctx.queryParam("model_name");
    String group = ctx.queryParam("routing_group");
    List<PublisherReport> wanted =
        reports().stream()
            .filter(one -> model == null || model.equals(registration(one).table().model()))
            .filter(one -> group == null || group.equals(registration(one).publisher().tenantId()))
            .toList();
    ctx.result(new WorkersJson(wanted, nowMicros()).write());
  }

  private List<PublisherReport> reports() {
    return PublisherReport.all(registrations.snapshot(), progress::get, index);
  }

  private static Registration registration(PublisherReport report) {
    return report.registered().registration();
  }

  /** Shows in {@code /metrics} what {@code /workers} says; to be taken back with the same. */
  public MultiCollector publisherMeters() {
    return new PublisherMeters(this::reports, StatusRoutes::nowMicros);
  }

  private static long nowMicros() {
    return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
  }

  /** {@code /ready} says no from now on, so that nobody sends more; what comes is answered. */
  public void drain() {
    draining = true;
  }
}
