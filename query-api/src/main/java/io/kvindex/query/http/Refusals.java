// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.metrics.HttpMeters;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Refuses requests whose body was not read, or not to its end. Thread-safe. */
final class Refusals {
  private static final long SMALL_BODY = 32 << 10;

  private final HttpMeters meters;
  private final int maxBodyBytes;

  Refusals(HttpMeters meters, int maxBodyBytes) {
    this.meters = meters;
    this.maxBodyBytes = maxBodyBytes;
  }

  /** What there are too many of at a time. */
  static ApiException busy(String what) {
    return ApiException.of(
        ErrorCode.TOO_MANY_REQUESTS, "more than " + what + " at a time; try again shortly");
  }

  /** The body is longer than any may be. */
  void bodyTooLong(Request request, Response response, Callback callback) {
    refuseUnread(
        request,
        response,
        ApiException.of(
            ErrorCode.BODY_TOO_LARGE, "the request body is longer than " + maxBodyBytes + " bytes"),
        callback);
  }

  /** As many large bodies as there may be are in memory already. */
  void noRoomForBody(Request request, Response response, Callback callback) {
    refuseUnread(request, response, busy(ScratchPool.MAX_LARGE + " bodies beyond 1 MiB"), callback);
  }

  /** The deadline came before the end of the body. */
  void late(Request request, Response response, Deadline deadline, Callback callback) {
    try {
      deadline.check();
    } catch (ApiException late) {
      refuseUnread(request, response, late, callback);
    }
  }

  /** A body nobody wants did not end; it has been waited for long enough. */
  void unendingBody(Request request, Response response, Callback callback) {
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    answer(
        request,
        response,
        ApiException.of(
            ErrorCode.BAD_REQUEST,
            "the request's body did not end in time; send a " + request.getMethod() + " without"),
        callback);
  }

  /** Refuses before the body was read; where that is short, the connection stays. */
  void refuse(Request request, Response response, ApiException refusal, Callback callback) {
    if (isShort(request)) {
      new BodyDrain(request, empty -> answer(request, response, refusal, callback)).run();
    } else {
      refuseUnread(request, response, refusal, callback);
    }
  }

  /**
   * Whether the body is little work to wait for. A client may send it after its header lines:
   * answered in between, Jetty would close the connection and the client's next request with it.
   */
  private static boolean isShort(Request request) {
    return request.getLength() <= SMALL_BODY
        && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
  }

  /** Answers first and then reads the rest of the body into nothing. */
  private void refuseUnread(
      Request request, Response response, ApiException refusal, Callback callback) {
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    answer(
        request,
        response,
        refusal,
        Callback.from(
            new BodyDrain(request, empty -> callback.succeeded())::run, callback::failed));
  }

  private void answer(Request request, Response response, ApiException refusal, Callback callback) {
    meters.refused(refusal.code());
    Replies.refuse(response, refusal, dialectOf(request), callback);
  }

  private static Dialect dialectOf(Request request) {
    return RequestDialect.of(
        request.getMethod(),
        request.getHttpURI().getCanonicalPath(),
        request.getHeaders().get(HttpHeader.CONTENT_TYPE),
        request.getHeaders().get(HttpHeader.ACCEPT),
        request.getHttpURI().getQuery());
  }
}
