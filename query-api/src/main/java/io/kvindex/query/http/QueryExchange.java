// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryForm;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One query from its first byte to its answer. Reads without blocking, so a slow client holds a
 * buffer but no thread. The scratch goes back when the answer is written or has failed.
 */
final class QueryExchange implements Runnable, Callback {
  private static final Logger LOG = LoggerFactory.getLogger(QueryExchange.class);
  private static final AtomicLong INCIDENTS = new AtomicLong();

  private final HotRoutes routes;
  private final QueryForm form;
  private final BodyType type;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final Scratch scratch;
  private final long start = System.nanoTime();

  QueryExchange(
      HotRoutes routes,
      QueryForm form,
      BodyType type,
      Request request,
      Response response,
      Callback callback,
      Scratch scratch) {
    this.routes = routes;
    this.form = form;
    this.type = type;
    this.request = request;
    this.response = response;
    this.callback = callback;
    this.scratch = scratch;
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
      if (scratch.length() + chunk.remaining() > routes.maxBodyBytes()) {
        chunk.release();
        routes.giveBack(scratch);
        routes.refuseBody(request, response, callback);
        return;
      }
      if (!routes.mayHold(scratch, scratch.length() + chunk.remaining())) {
        chunk.release();
        routes.giveBack(scratch);
        routes.refuseLargeBody(request, response, callback);
        return;
      }
      if (chunk.hasRemaining()) {
        scratch.append(chunk.getByteBuffer());
      }
      chunk.release();
      if (last) {
        answer();
        return;
      }
    }
  }

  private void answer() {
    try {
      @Nullable String parameters = request.getHttpURI().getQuery();
      scratch.parser.parse(type, scratch.body(), scratch.length(), form, parameters, scratch.query);
      routes.answers().answer(form, scratch.query, scratch.reply);
    } catch (ApiException refusal) {
      refuse(refusal);
      return;
    } catch (RuntimeException | Error e) {
      // An Error too: the scratch must come back, whatever happened.
      long incident = INCIDENTS.incrementAndGet();
      LOG.error("query failed, incident={}", incident, e);
      refuse(
          ApiException.of(
              ErrorCode.INTERNAL, "internal error, see the server's log, incident " + incident));
      return;
    }
    routes.meters().answered(form, System.nanoTime() - start, scratch.query.count());
    Replies.ok(response, scratch.reply, this);
  }

  private void refuse(ApiException refusal) {
    routes.meters().refused(refusal.code());
    Replies.refuse(response, refusal, scratch.query.dialect(), this);
  }

  @Override
  public void succeeded() {
    routes.giveBack(scratch);
    callback.succeeded();
  }

  @Override
  public void failed(@Nullable Throwable cause) {
    routes.giveBack(scratch);
    callback.failed(cause);
  }
}
