// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.metrics.HttpMeters;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryForm;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * Stands in front of Javalin: serves the query routes itself and keeps every other route within its
 * bounds. A servlet costs more per request than looking up a prompt of 4,096 tokens does.
 */
final class HotRoutes extends Handler.Wrapper {
  private static final long SMALL_BODY = 32 << 10;

  private final QueryAnswers answers;
  private final HttpSettings settings;
  private final ScratchPool pool;
  private final Semaphore control;
  private final HttpMeters meters;

  HotRoutes(QueryAnswers answers, HttpSettings settings, MeterRegistry registry) {
    this.answers = answers;
    this.settings = settings;
    pool = new ScratchPool(settings.maxInFlight(), settings.maxItems());
    control = new Semaphore(settings.maxControl());
    meters = new HttpMeters(registry, pool::lent);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String path = request.getHttpURI().getCanonicalPath();
    @Nullable QueryForm form = path == null ? null : formOf(path);
    if (form == null) {
      return control(request, response, callback);
    }
    BodyType type = typeOf(request);
    if (!request.getMethod().equals("POST")) {
      refuse(
          type,
          response,
          ApiException.of(
              ErrorCode.METHOD_NOT_ALLOWED, request.getMethod() + " " + path + ": use POST"),
          callback);
      return true;
    }
    query(form, type, request, response, callback);
    return true;
  }

  private void query(
      QueryForm form, BodyType type, Request request, Response response, Callback callback) {
    long announced = request.getLength();
    if (announced > settings.maxBodyBytes()) {
      refuseBody(request, response, callback);
      return;
    }
    Scratch scratch = pool.lend();
    if (scratch == null) {
      ApiException busy = busy(settings.maxInFlight() + " queries");
      if (announced >= 0 && announced <= SMALL_BODY) {
        refuse(type, response, busy, callback); // Jetty has read it already: the connection stays
      } else {
        refuseUnread(request, response, busy, callback);
      }
      return;
    }
    if (!pool.mayHold(scratch, (int) Math.max(0, announced))) {
      giveBack(scratch);
      refuseLargeBody(request, response, callback);
      return;
    }
    if (announced > 0) {
      scratch.expect((int) announced);
    }
    new QueryExchange(this, form, type, request, response, callback, scratch).run();
  }

  private boolean control(Request request, Response response, Callback callback) throws Exception {
    if (request.getLength() > settings.maxBodyBytes()) {
      refuseBody(request, response, callback);
      return true;
    }
    // What only reads must work while registrations wait for Kafka: readiness, metrics.
    if (request.getMethod().equals("GET")) {
      return super.handle(request, response, callback);
    }
    if (!control.tryAcquire()) {
      refuse(typeOf(request), response, busy(settings.maxControl() + " requests"), callback);
      return true;
    }
    Request.addCompletionListener(request, failure -> control.release());
    return super.handle(request, response, callback);
  }

  private static @Nullable QueryForm formOf(String path) {
    return switch (path) {
      case "/query" -> QueryForm.TOKENS;
      case "/query_by_hash" -> QueryForm.HASHES;
      case "/query_tiered_by_hash" -> QueryForm.TIERED;
      default -> null;
    };
  }

  private static ApiException busy(String what) {
    return ApiException.of(
        ErrorCode.TOO_MANY_REQUESTS, "more than " + what + " at a time; try again shortly");
  }

  void refuseBody(Request request, Response response, Callback callback) {
    refuseUnread(
        request,
        response,
        ApiException.of(
            ErrorCode.BODY_TOO_LARGE,
            "the request body is longer than " + settings.maxBodyBytes() + " bytes"),
        callback);
  }

  void refuseLargeBody(Request request, Response response, Callback callback) {
    refuseUnread(request, response, busy(ScratchPool.MAX_LARGE + " bodies beyond 1 MiB"), callback);
  }

  /** Answers first and then reads the rest of the body into nothing. */
  private void refuseUnread(
      Request request, Response response, ApiException refusal, Callback callback) {
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    refuse(
        typeOf(request),
        response,
        refusal,
        Callback.from(new BodyDrain(request, callback)::run, callback::failed));
  }

  /** Refuses a body nobody has read: of its dialect only the type is known. */
  private void refuse(BodyType type, Response response, ApiException refusal, Callback callback) {
    meters.refused(refusal.code());
    Dialect dialect = type == BodyType.MSGPACK ? Dialect.BINARY : Dialect.CONDUCTOR;
    Replies.refuse(response, refusal, dialect, callback);
  }

  private static BodyType typeOf(Request request) {
    return BodyType.of(request.getHeaders().get(HttpHeader.CONTENT_TYPE));
  }

  boolean mayHold(Scratch scratch, int bytes) {
    return pool.mayHold(scratch, bytes);
  }

  void giveBack(Scratch scratch) {
    pool.giveBack(scratch);
  }

  QueryAnswers answers() {
    return answers;
  }

  HttpMeters meters() {
    return meters;
  }

  int maxBodyBytes() {
    return settings.maxBodyBytes();
  }
}
