// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.RejectedExecutionException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** A request that goes on to its route later than it came, on a thread of the server's. */
record LaterRequest(Request.Handler next, Request request, Response response, Callback callback) {

  /** Has it handled, not by this thread: it may be one that has to go on for others. */
  void goOn() {
    try {
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
