// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.RejectedExecutionException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * A GET that brings a body, which no route reads. It goes on to its route once the body has come:
 * there a thread would wait for what the client may never send, and nothing bounds how many GETs
 * there are at a time.
 */
final class GetWithBody {
  private final Request.Handler next;
  private final Refusals refusals;
  private final Request request;
  private final Response response;
  private final Callback callback;

  private GetWithBody(
      Request.Handler next,
      Refusals refusals,
      Request request,
      Response response,
      Callback callback) {
    this.next = next;
    this.refusals = refusals;
    this.request = request;
    this.response = response;
    this.callback = callback;
  }

  /** Has a GET handled: one without a body at once, another when its body has come. */
  static boolean handle(
      Request.Handler next,
      Refusals refusals,
      Request request,
      Response response,
      Callback callback)
      throws Exception {
    if (request.getLength() <= 0 && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
      return next.handle(request, response, callback);
    }
    GetWithBody get = new GetWithBody(next, refusals, request, response, callback);
    new BodyDrain(request, get::drained).run();
    return true;
  }

  private void drained(boolean empty) {
    if (!empty) {
      refusals.unendingBody(request, response, callback);
      return;
    }
    try {
      // Not by this thread: it may be one that has to go on reading for others.
      request.getContext().execute(this::handle);
    } catch (RejectedExecutionException e) { // the server is being closed
      callback.failed(e);
    }
  }

  private void handle() {
    try {
      if (!next.handle(request, response, callback)) {
        Response.writeError(request, response, callback, 404);
      }
    } catch (Throwable e) { // as Jetty does where it calls a handler itself
      Response.writeError(request, response, callback, e);
    }
  }
}
