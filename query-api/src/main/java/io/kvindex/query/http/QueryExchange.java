// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ScratchPool.Scratch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request from its first byte to its answer. Reads without blocking, so a slow client holds a
 * buffer but no thread. The scratch goes back when the answer is written or has failed.
 */
final class QueryExchange implements Runnable, Callback {
  private static final Logger LOG = LoggerFactory.getLogger(QueryExchange.class);
  private static final AtomicLong INCIDENTS = new AtomicLong();

  /** Longest wait for an event where the client gives no deadline, and where it does. */
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final HotRoutes routes;
  private final QueryWork work;
  private final Deadline deadline;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final Scratch scratch;
  private final long start = System.nanoTime();

  /** Whether there is time to wait for events. */
  private boolean mayWait = true;

  /** When that time ends, for all the events a batch names together; 0 = none was waited for. */
  private long waitEnd;

  QueryExchange(QueryWork work, Request request, Response response, Callback callback) {
    this.work = work;
    this.routes = work.routes;
    this.deadline = work.deadline;
    this.scratch = work.scratch;
    this.request = request;
    this.response = response;
    this.callback = callback;
  }

  /** Goes on reading; called again whenever more of the body has arrived. */
  @Override
  public void run() {
    while (true) {
      Content.@Nullable Chunk chunk = request.read();
      if (chunk == null) {
        request.demand(this);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        failed(chunk.getFailure());
        return;
      }
      boolean last = chunk.isLast();
      @Nullable ApiException refusal = take(chunk);
      chunk.release();
      if (refusal != null) {
        routes.pool.giveBack(scratch);
        routes.replies.refuseUnread(request, response, refusal, callback);
        return;
      }
      if (last) {
        proceed();
        return;
      }
    }
  }

  /** Why a part of the body is not wanted, null = it is taken. */
  private @Nullable ApiException take(Content.Chunk chunk) {
    int bytes = scratch.length() + chunk.remaining();
    if (bytes > routes.settings.maxBodyBytes()) {
      return Replies.bodyTooLong(routes.settings);
    } else if (!routes.pool.mayHold(scratch, bytes)) {
      return Replies.noRoomForBody();
    } else if (!chunk.isLast()) {
      try {
        deadline.check();
      } catch (ApiException late) {
        return late;
      }
    }
    if (chunk.hasRemaining()) {
      scratch.append(chunk.getByteBuffer());
    }
    return null;
  }

  /** Answers, or waits for an event without holding the thread. */
  private void proceed() {
    try {
      if (!work.proceed(mayWait)) {
        await();
        return;
      }
      deadline.check(); // rather none than a late answer
    } catch (ApiException refusal) {
      refuse(refusal);
      return;
    } catch (RuntimeException | Error e) {
      // An Error too: the scratch must come back, whatever happened.
      refuse(incident(e));
      return;
    }
    work.answered(System.nanoTime() - start);
    nameModel();
    Replies.ok(response, scratch.reply, this);
  }

  /** From here on another thread may have this exchange. */
  private void await() {
    long now = System.nanoTime();
    if (waitEnd == 0) {
      waitEnd =
          now + (deadline.isSet() ? Math.min(deadline.leftNanos(), MAX_WAIT_NANOS) : WAIT_NANOS);
    }
    if (!routes.waiters.await(work::mayGoOn, waitEnd - now, this::resume)) {
      refuse(ErrorCode.TOO_MANY_REQUESTS.because("too many queries wait for an event; try again"));
    }
  }

  private void resume(boolean reached) {
    mayWait = reached;
    try {
      request.getContext().execute(this::proceed);
    } catch (RejectedExecutionException e) { // the server is being closed
      failed(e);
    }
  }

  /** Logs a bug and words it for the client. */
  static ApiException incident(Throwable bug) {
    long incident = INCIDENTS.incrementAndGet();
    LOG.error("query failed, incident={}", incident, bug);
    return ErrorCode.INTERNAL.because("internal error, see the server's log, incident " + incident);
  }

  private void refuse(ApiException refusal) {
    routes.meters.refused(refusal.code());
    nameModel();
    Replies.refuse(response, refusal, work.dialect(), this);
  }

  private void nameModel() {
    String model = work.model();
    if (!model.isEmpty()) {
      request.setAttribute(RequestObserver.MODEL, model);
    }
  }

  @Override
  public void succeeded() {
    routes.pool.giveBack(scratch);
    callback.succeeded();
  }

  @Override
  public void failed(@Nullable Throwable cause) {
    routes.pool.giveBack(scratch);
    callback.failed(cause);
  }
}
