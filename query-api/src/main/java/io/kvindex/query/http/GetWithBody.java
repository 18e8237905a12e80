// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

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

  private GetWithBody() {}

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
    LaterRequest get = new LaterRequest(next, request, response, callback);
    new BodyDrain(
            request,
            empty -> {
              if (empty) {
                get.goOn();
              } else {
                refusals.unendingBody(request, response, callback);
              }
            })
        .run();
    return true;
  }
}
