// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryParameter;
import io.kvindex.query.quarantine.Quarantine.Entry;
import io.kvindex.query.quarantine.Quarantine.Retried;
import io.kvindex.query.registration.RegisterRequest;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.ControlReplies;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.Semaphore;
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

  /** Each keeps a thread and a consumer for as long as Kafka takes. */
  private static final int READERS = 2;

  private final Quarantine quarantine;
  private final Semaphore readers = new Semaphore(READERS);

  /** Reads the quarantine into an answer. */
  private interface Reading {
    void into(ArrayNode out) throws InterruptedException;
  }

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

  private void list(Context ctx) throws InterruptedException {
    String instance = ctx.queryParam("instance_id");
    int limit = QueryParameter.number(ctx, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    Predicate<PublisherId> which = one -> instance == null || one.instanceId().equals(instance);
    answer(
        ctx, out -> quarantine.list(which, limit).forEach(entry -> write(entry, out.addObject())));
  }

  private void answer(Context ctx, Reading reading) throws InterruptedException {
    if (!readers.tryAcquire()) {
      throw ErrorCode.TOO_MANY_REQUESTS.because(READERS + " requests read the quarantine already");
    }
    ArrayNode out = JsonNodeFactory.instance.arrayNode();
    try {
      reading.into(out);
    } catch (KafkaException e) {
      throw ErrorCode.NOT_READY.because("the quarantine can not be read: " + e);
    } finally {
      readers.release();
    }
    ControlReplies.send(ctx, Dialect.CONDUCTOR, out);
  }

  private static void write(Entry entry, ObjectNode out) {
    QuarantinedFrame frame = entry.frame();
    publisher(entry.publisher(), out)
        .put("sequence", ControlReplies.unsigned(frame.sequence()))
        .put("generation", frame.incarnation().generation())
        .put("life", frame.incarnation().life())
        .put("current", entry.current())
        .put("time", Instant.EPOCH.plus(frame.receivedMicros(), ChronoUnit.MICROS).toString())
        .put("reason", frame.reason())
        .put("length", frame.length());
    if (entry.readable() != null) {
      out.put("readable", entry.readable());
    }
  }

  private static ObjectNode publisher(PublisherId publisher, ObjectNode out) {
    return out.put("instance_id", publisher.instanceId())
        .put("tenant_id", publisher.tenantId())
        .put("dp_rank", publisher.dpRank());
  }

  private void retry(Context ctx) throws InterruptedException {
    boolean force = QueryParameter.flag(ctx, "force");
    Predicate<PublisherId> which;
    if (QueryParameter.flag(ctx, "all")) {
      which = publisher -> true;
    } else {
      BodyType.requireJson(ctx.contentType(), ctx.path());
      PublisherId one = RegisterRequest.publisher(ctx.bodyAsBytes());
      which = one::equals;
    }
    answer(
        ctx,
        out -> quarantine.retry(which, force).forEach(retried -> write(retried, out.addObject())));
  }

  private static void write(Retried retried, ObjectNode out) {
    publisher(retried.publisher(), out)
        .put("frames", retried.frames())
        .put("readable", retried.readable())
        .put("rebuilding", retried.rebuilding())
        .put("note", retried.note());
  }
}
