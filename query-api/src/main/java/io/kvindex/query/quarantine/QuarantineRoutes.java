// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.quarantine.Quarantine.Retried;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.UnregisterRequest;
import io.kvindex.query.reply.JsonBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** {@code GET /quarantine} and {@code POST /quarantine/retry}. */
public final class QuarantineRoutes {

  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 10_000;
  private static final Duration TIMEOUT = Duration.ofSeconds(8);

  private final Quarantine quarantine;

  /**
   * @param kafka Kafka client settings, at least {@code bootstrap.servers}
   * @param progress newest progress of a publisher
   * @param reader the decoders of this version
   */
  public QuarantineRoutes(
      Map<String, Object> kafka,
      Supplier<RegistrationSnapshot> registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      FrameReader reader) {
    quarantine = new Quarantine(kafka, TIMEOUT, registrations, progress, reader);
  }

  /** Adds the routes. */
  public void addTo(RoutesConfig routes) {
    routes.get("/quarantine", this::list);
    routes.post("/quarantine/retry", this::retry);
  }

  private void list(Context ctx) {
    String instance = ctx.queryParam("instance_id");
    Predicate<PublisherId> which =
        publisher -> instance == null || publisher.instanceId().equals(instance);
    JsonBuffer out = new JsonBuffer().raw('[');
    String separator = "";
    try {
      for (QuarantineEntry entry : quarantine.list(which, limit(ctx))) {
        if (!separator.isEmpty()) {
          out.raw(',');
        }
        separator = ",";
        write(out, entry);
      }
    } catch (KafkaException e) {
      throw ApiException.of(ErrorCode.NOT_READY, "the quarantine can not be read: " + e);
    }
    ctx.contentType("application/json").result(out.raw(']').asText());
  }

  private static int limit(Context ctx) {
    String text = ctx.queryParam("limit");
    try {
      int limit = text == null ? DEFAULT_LIMIT : Integer.parseInt(text);
      if (limit >= 1 && limit <= MAX_LIMIT) {
        return limit;
      }
    } catch (NumberFormatException e) {
      throw outOfRange(e);
    }
    throw outOfRange(null);
  }

  private static ApiException outOfRange(@Nullable Exception cause) {
    ApiException problem =
        ApiException.field(ErrorCode.OUT_OF_RANGE, "limit", "limit must be from 1 to " + MAX_LIMIT);
    if (cause != null) {
      problem.addSuppressed(cause);
    }
    return problem;
  }

  private static void write(JsonBuffer out, QuarantineEntry entry) {
    QuarantinedFrame frame = entry.frame();
    publisher(out, entry.publisher());
    out.raw(',').name("sequence").unsigned(frame.sequence());
    out.raw(',').name("generation").number(frame.incarnation().generation());
    out.raw(',').name("life").number(frame.incarnation().life());
    bool(out, "current", entry.current());
    out.raw(',')
        .name("time")
        .string(Instant.EPOCH.plus(frame.receivedMicros(), ChronoUnit.MICROS).toString());
    out.raw(',').name("reason").string(frame.reason());
    out.raw(',').name("length").number(frame.length());
    if (entry.readable() != null) {
      bool(out, "readable", entry.readable());
    }
    out.raw('}');
  }

  private static void publisher(JsonBuffer out, PublisherId publisher) {
    out.raw('{').name("instance_id").string(publisher.instanceId());
    out.raw(',').name("tenant_id").string(publisher.tenantId());
    out.raw(',').name("dp_rank").number(publisher.dpRank());
  }

  private static void bool(JsonBuffer out, String name, boolean value) {
    out.raw(',')
        .name(name)
        .raw(String.valueOf(value).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
  }

  private void retry(Context ctx) throws InterruptedException {
    Predicate<PublisherId> which;
    if (isSet(ctx, "all")) {
      which = publisher -> true;
    } else {
      BodyType.requireJson(ctx.contentType(), ctx.path());
      PublisherId one = UnregisterRequest.parse(ctx.bodyAsBytes()).publisher();
      which = one::equals;
    }
    JsonBuffer out = new JsonBuffer().raw('[');
    String separator = "";
    try {
      for (Retried retried : quarantine.retry(which, isSet(ctx, "force"))) {
        if (!separator.isEmpty()) {
          out.raw(',');
        }
        separator = ",";
        publisher(out, retried.publisher());
        out.raw(',').name("frames").number(retried.frames());
        bool(out, "readable", retried.readable());
        bool(out, "rebuilding", retried.rebuilding());
        out.raw(',').name("note").string(retried.note()).raw('}');
      }
    } catch (KafkaException e) {
      throw ApiException.of(ErrorCode.NOT_READY, "the quarantine can not be read: " + e);
    }
    ctx.contentType("application/json").result(out.raw(']').asText());
  }

  private static boolean isSet(Context ctx, String name) {
    return "true".equals(ctx.queryParam(name));
  }
}
