// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.metrics.HttpMeters;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody;
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

  private static final String BATCH = "/query_batch";

  private final QueryAnswers answers;
  private final EventVisibility events;
  private final EventWaiters waiters;
  private final HttpSettings settings;
  private final ScratchPool pool;
  private final Semaphore control;
  private final HttpMeters meters;
  private final RequestObserver observer;

  HotRoutes(
      QueryAnswers answers,
      EventVisibility events,
      HttpSettings settings,
      RequestObserver observer,
      MeterRegistry registry) {
    this.observer = observer;
    this.answers = answers;
    this.events = events;
    waiters = new EventWaiters(Math.max(1, settings.maxInFlight() / 2));
    this.settings = settings;
    pool = new ScratchPool(settings.maxInFlight(), settings.maxItems());
    control = new Semaphore(settings.maxControl());
    meters = new HttpMeters(registry, pool::lent);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    if (observer != RequestObserver.NONE) {
      Request.addCompletionListener(
          request,
          failure ->
              observer.completed(
                  request, response.getStatus(), System.nanoTime() - request.getBeginNanoTime()));
    }
    String path = request.getHttpURI().getCanonicalPath();
    @Nullable QueryForm form = path == null ? null : formOf(path);
    boolean batch = BATCH.equals(path);
    if (form == null && !batch) {
      return control(request, response, callback);
    }
    BodyType type = typeOf(request);
    if (!request.getMethod().equals("POST")) {
      refuse(
          wantedBy(request, type),
          response,
          ApiException.of(
              ErrorCode.METHOD_NOT_ALLOWED, request.getMethod() + " " + path + ": use POST"),
          callback);
      return true;
    }
    query(form, type, request, response, callback);
    return true;
  }

  /**
   * @param form null for a batch
   */
  private void query(
      @Nullable QueryForm form,
      BodyType type,
      Request request,
      Response response,
      Callback callback) {
    long announced = request.getLength();
    if (announced > settings.maxBodyBytes()) {
      refuseBody(request, response, callback);
      return;
    }
    Deadline deadline;
    try {
      deadline = Deadline.of(request.getHeaders().get(Deadline.HEADER), request.getBeginNanoTime());
      if (form == null && type != BodyType.JSON) {
        throw ApiException.of(
            ErrorCode.UNSUPPORTED_CONTENT_TYPE, "a batch is JSON, whatever its queries are");
      }
    } catch (ApiException refusal) {
      refuseEither(request, response, refusal, callback);
      return;
    }
    Scratch scratch = pool.lend();
    if (scratch == null) {
      refuseEither(request, response, busy(settings.maxInFlight() + " queries"), callback);
      return;
    }
    // What a batch answers may be long as well.
    int expected = form == null ? Integer.MAX_VALUE : (int) Math.max(0, announced);
    if (!pool.mayHold(scratch, expected)) {
      giveBack(scratch);
      refuseLargeBody(request, response, callback);
      return;
    }
    if (announced > 0) {
      scratch.expect((int) announced);
    }
    QueryWork work =
        form == null
            ? new BatchOfQueries(this, deadline, scratch)
            : new OneQuery(this, form, type, request.getHttpURI().getQuery(), deadline, scratch);
    new QueryExchange(this, work, deadline, request, response, callback, scratch).run();
  }

  /** Refuses before the body was read. */
  private void refuseEither(
      Request request, Response response, ApiException refusal, Callback callback) {
    long announced = request.getLength();
    if (announced >= 0 && announced <= SMALL_BODY) {
      // Jetty has read it already: the connection stays
      refuse(typeOf(request), response, refusal, callback);
    } else {
      refuseUnread(request, response, refusal, callback);
    }
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

  /** The deadline came before the end of the body. */
  void refuseLate(Request request, Response response, Deadline deadline, Callback callback) {
    try {
      deadline.check();
    } catch (ApiException late) {
      refuseUnread(request, response, late, callback);
    }
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

  /** A request without a body says by {@code Accept} what it takes. */
  private static BodyType wantedBy(Request request, BodyType type) {
    boolean bare = request.getHeaders().get(HttpHeader.CONTENT_TYPE) == null;
    return bare ? BodyType.of(request.getHeaders().get(HttpHeader.ACCEPT)) : type;
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

  EventWaiters waiters() {
    return waiters;
  }

  /**
   * Whether the event a query names is visible; most name none.
   *
   * @param mayWait whether "no" is an answer
   * @throws ApiException (503) if it is not visible and there is no time to wait
   */
  boolean isVisible(QueryBody query, boolean mayWait) {
    @Nullable MinEvent event = query.minEvent();
    if (event == null || events.isVisible(query.tenant(), event)) {
      return true;
    }
    if (mayWait) {
      return false;
    }
    throw ApiException.field(
        ErrorCode.EVENT_NOT_VISIBLE,
        "min_event",
        event + " is not visible yet: " + events.howFar(query.tenant(), event));
  }

  HttpMeters meters() {
    return meters;
  }

  int maxBodyBytes() {
    return settings.maxBodyBytes();
  }
}
