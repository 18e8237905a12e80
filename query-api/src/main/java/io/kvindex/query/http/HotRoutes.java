// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ScratchPool.Scratch;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * Stands in front of Javalin: serves the query routes and other replicas' questions itself and
 * keeps every other route within its bounds. A servlet costs more per request than looking up a
 * prompt of 4,096 tokens does.
 */
final class HotRoutes extends Handler.Wrapper {
  /** The one method of every path served here. */
  static final String METHOD = "POST";

  private static final String BATCH = "/query_batch";

  /** What is done with bodies that come to a path. */
  private interface Kind {
    QueryWork work(BodyType type, Request request, Deadline deadline, Scratch scratch);
  }

  final QueryAnswers answers;
  final EventWaiters waiters;
  final HttpSettings settings;
  final ScratchPool pool;
  final HttpMeters meters;
  final Replies replies;
  private final EventVisibility events;
  private final ControlTurns turns;
  private final RequestObserver observer;
  private final Map<String, Kind> kinds = new HashMap<>();

  /** Those served here for clients, each with {@link #METHOD} only. */
  final Set<String> paths;

  HotRoutes(
      QueryAnswers answers,
      EventVisibility events,
      ReplicaQuestions questions,
      HttpSettings settings,
      RequestObserver observer,
      MeterRegistry registry) {
    this.observer = observer;
    for (QueryForm form : QueryForm.values()) {
      kinds.put(
          form.path(),
          (type, request, deadline, scratch) ->
              new QueryWork.One(this, form, type, request, deadline, scratch));
    }
    kinds.put(
        "/explain",
        (type, request, deadline, scratch) ->
            new QueryWork.Explanation(this, type, request, deadline, scratch));
    kinds.put(
        BATCH, (type, request, deadline, scratch) -> new BatchOfQueries(this, deadline, scratch));
    paths = Set.copyOf(kinds.keySet());
    questions
        .byPath()
        .forEach(
            (path, answer) ->
                kinds.put(
                    path,
                    (type, request, deadline, scratch) ->
                        new QueryWork.ReplicaQuestion(this, answer, request, deadline, scratch)));
    this.answers = answers;
    this.events = events;
    waiters = new EventWaiters(Math.max(1, settings.maxInFlight() / 2));
    this.settings = settings;
    pool = new ScratchPool(settings.maxInFlight(), settings.maxItems());
    turns =
        new ControlTurns(
            settings.maxControl(), settings.maxControlWaiting(), settings.controlPatience());
    meters = new HttpMeters(registry, pool::lent);
    replies = new Replies(meters);
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
    @Nullable Kind kind = path == null ? null : kinds.get(path);
    if (kind == null) {
      return control(request, response, callback);
    }
    BodyType type = BodyType.of(request.getHeaders().get(HttpHeader.CONTENT_TYPE));
    if (!request.getMethod().equals(METHOD)) {
      replies.refuse(
          request,
          response,
          ErrorCode.METHOD_NOT_ALLOWED.because(request.getMethod() + " " + path + ": use POST"),
          callback);
      return true;
    }
    query(path, kind, type, request, response, callback);
    return true;
  }

  private void query(
      String path,
      Kind kind,
      BodyType type,
      Request request,
      Response response,
      Callback callback) {
    long announced = request.getLength();
    if (announced > settings.maxBodyBytes()) {
      replies.refuseUnread(request, response, Replies.bodyTooLong(settings), callback);
      return;
    }
    Deadline deadline;
    try {
      deadline = Deadline.of(request.getHeaders().get(Deadline.HEADER), request.getBeginNanoTime());
      if (BATCH.equals(path) && type != BodyType.JSON) {
        throw ErrorCode.UNSUPPORTED_CONTENT_TYPE.because(
            "a batch is JSON, whatever its queries are");
      }
    } catch (ApiException refusal) {
      replies.refuse(request, response, refusal, callback);
      return;
    }
    Scratch scratch = pool.lend();
    if (scratch == null) {
      replies.refuse(
          request, response, Replies.busy(settings.maxInFlight() + " queries"), callback);
      return;
    }
    // What a batch answers may be long as well; what replicas are answered has permits of its own.
    int expected = BATCH.equals(path) ? Integer.MAX_VALUE : (int) Math.max(0, announced);
    if (!pool.mayHold(scratch, expected)) {
      pool.giveBack(scratch);
      replies.refuseUnread(request, response, Replies.noRoomForBody(), callback);
      return;
    }
    if (announced > 0) {
      scratch.room((int) announced);
    }
    QueryWork work = kind.work(type, request, deadline, scratch);
    new QueryExchange(work, request, response, callback).run();
  }

  private boolean control(Request request, Response response, Callback callback) throws Exception {
    if (request.getLength() > settings.maxBodyBytes()) {
      replies.refuseUnread(request, response, Replies.bodyTooLong(settings), callback);
      return true;
    }
    // What only reads must work while registrations wait for Kafka: readiness, metrics.
    if (request.getMethod().equals("GET")) {
      return get(request, response, callback);
    }
    if (turns.tryTake()) {
      Request.addCompletionListener(request, failure -> turns.done());
      return super.handle(request, response, callback);
    }
    ApiException busy = Replies.busy(settings.maxControl() + " requests");
    boolean waits =
        turns.await(
            come -> {
              if (come) {
                Request.addCompletionListener(request, failure -> turns.done());
                goOn(request, response, callback);
              } else {
                replies.refuse(request, response, busy, callback);
              }
            });
    if (!waits) {
      replies.refuse(request, response, busy, callback);
    }
    return true;
  }

  private boolean get(Request request, Response response, Callback callback) throws Exception {
    if (request.getLength() <= 0 && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
      return super.handle(request, response, callback);
    }
    // No route reads it. In its route a thread would wait for what the client may never send, and
    // nothing bounds how many GETs there are at a time: so it goes on when the body has come.
    new BodyDrain(
            request,
            empty -> {
              if (empty) {
                goOn(request, response, callback);
              } else {
                replies.unendingBody(request, response, callback);
              }
            })
        .run();
    return true;
  }

  /** Not by this thread: it may be one that has to go on for others. */
  private void goOn(Request request, Response response, Callback callback) {
    try {
      request.getContext().execute(() -> handleLater(request, response, callback));
    } catch (RejectedExecutionException e) { // the server is being closed
      callback.failed(e);
    }
  }

  private void handleLater(Request request, Response response, Callback callback) {
    try {
      if (!super.handle(request, response, callback)) {
        Response.writeError(request, response, callback, 404);
      }
    } catch (Throwable e) { // as Jetty does where it calls a handler itself
      Response.writeError(request, response, callback, e);
    }
  }

  /** Nobody waits for an event or a turn any more. */
  void endWaits() {
    waiters.close();
    turns.close();
  }

  /**
   * Whether the event a query names is visible; most name none.
   *
   * @param mayWait whether "no" is an answer
   * @throws ApiException (503) if it is not visible and there is no time to wait
   */
  boolean isVisible(QueryBody query, boolean mayWait) {
    @Nullable MinEvent event = query.minEvent();
    if (event == null) {
      return true;
    }
    if (events.isVisible(query.tenant(), event)) {
      query.awaited(events.place(query.tenant(), event));
      return true;
    }
    if (mayWait) {
      return false;
    }
    throw ErrorCode.EVENT_NOT_VISIBLE.of(
        "min_event", event + " is not visible yet: " + events.howFar(query.tenant(), event));
  }
}
