// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.Javalin;
import io.javalin.http.Context;
import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.model.PublisherId;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A bridge's own small HTTP side: health, readiness, metrics and the publishers it follows. */
final class BridgeHttp implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OK = 200;
  private static final int UNAVAILABLE = 503;

  private final Javalin server;
  private final Bridge bridge;

  BridgeHttp(Bridge bridge, PrometheusMeterRegistry metrics, String bind, int port) {
    this.bridge = bridge;
    server =
        Javalin.create(
            config -> {
              config.startup.showJavalinBanner = false;
              config.startup.showOldJavalinVersionWarning = false;
              config.startup.startupWatcherEnabled = false;
              config.routes.get("/health", this::health);
              config.routes.get("/ready", this::ready);
              config.routes.get("/workers", this::workers);
              config.routes.get(
                  "/metrics",
                  ctx -> ctx.contentType("text/plain; version=0.0.4").result(metrics.scrape()));
            });
    server.start(bind, port);
  }

  int port() {
    return server.port();
  }

  private void health(Context ctx) {
    boolean alive = bridge.isAlive();
    answer(ctx, alive ? OK : UNAVAILABLE, status(alive ? "ok" : "a thread has ended; see the log"));
  }

  private void ready(Context ctx) {
    boolean ready = bridge.isReady();
    answer(
        ctx,
        ready ? OK : UNAVAILABLE,
        status(ready ? "ready" : "waiting for its share of the publishers"));
  }

  private void workers(Context ctx) {
    ArrayNode workers = JSON.createArrayNode();
    bridge.workers().forEach(worker -> workers.add(json(worker)));
    answer(ctx, OK, workers);
  }

  private static ObjectNode json(WorkerStatus worker) {
    PublisherId publisher = worker.registration().publisher();
    ObjectNode node = JSON.createObjectNode();
    node.put("instance_id", publisher.instanceId())
        .put("tenant_id", publisher.tenantId())
        .put("dp_rank", publisher.dpRank())
        .put("endpoint", worker.registration().endpoint())
        .put("state", worker.state().wireName())
        .put("connected", worker.connected())
        .put("generation", worker.incarnation().generation())
        .put("life", worker.incarnation().life())
        .put("clears", worker.clears())
        .put("last_sequence", unsigned(worker.lastSequence()))
        .put("last_event_time", time(worker.lastTimeMicros()))
        .put("lag_ms", ageMs(worker.oldestUnackedMicros()))
        .put("last_error", worker.lastError())
        .set("counters", JSON.valueToTree(worker.counters()));
    return node;
  }

  private static @Nullable BigInteger unsigned(@Nullable Long number) {
    return number == null ? null : new BigInteger(Long.toUnsignedString(number));
  }

  private static @Nullable String time(long micros) {
    return micros == 0 ? null : Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
  }

  /** Age of the oldest batch Kafka does not have, 0 = it has all. */
  private static long ageMs(long sinceMicros) {
    return sinceMicros == 0
        ? 0
        : Math.max(0, System.currentTimeMillis() - TimeUnit.MICROSECONDS.toMillis(sinceMicros));
  }

  private static ObjectNode status(String text) {
    return JSON.createObjectNode().put("status", text);
  }

  private static void answer(Context ctx, int status, JsonNode body) {
    ctx.status(status).contentType("application/json").result(body.toString());
  }

  @Override
  public void close() {
    server.stop();
  }
}
