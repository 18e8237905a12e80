// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.reply.ControlReplies;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * Writes answers and refusals to Jetty responses; header fields that repeat are encoded once.
 * Thread-safe.
 */
final class Replies {
  static final String STATE_HEADER = "X-KvIndex-State";
  static final String LAG_HEADER = "X-KvIndex-Lag-Ms";
  static final String DEGRADED_HEADER = "X-KvIndex-Degraded";
  static final String RETRY_AFTER_SECONDS = "1";

  private static final HttpField JSON =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, "application/json");
  private static final HttpField MSGPACK =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, ControlReplies.MSGPACK);
  private static final HttpField OCTETS =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, "application/octet-stream");
  private static final HttpField EXACT =
      new PreEncodedHttpField(STATE_HEADER, Trust.EXACT.headerValue());
  private static final HttpField NO_LAG = new PreEncodedHttpField(LAG_HEADER, "0");

  private static final long SMALL_BODY = 32 << 10;

  private final HttpMeters meters;

  Replies(HttpMeters meters) {
    this.meters = meters;
  }

  static void ok(Response response, QueryReply reply, Callback done) {
    HttpFields.Mutable headers = response.getHeaders();
    headers.add(reply.isOctets() ? OCTETS : reply.isPacked() ? MSGPACK : JSON);
    @Nullable Trust trust = reply.trust();
    if (trust != null) {
      headers.add(trust == Trust.EXACT ? EXACT : new HttpField(STATE_HEADER, trust.headerValue()));
    }
    if (reply.lagMs() >= 0) {
      headers.add(reply.lagMs() == 0 ? NO_LAG : new HttpField(LAG_HEADER, "" + reply.lagMs()));
    }
    @Nullable String degraded = reply.degraded();
    if (degraded != null) {
      headers.add(DEGRADED_HEADER, degraded);
    }
    send(response, 200, reply.content(), done);
  }

  static void refuse(Response response, ApiException refusal, Dialect dialect, Callback done) {
    HttpFields.Mutable headers = response.getHeaders();
    headers.put(dialect == Dialect.BINARY ? MSGPACK : JSON);
    if (mayTryAgain(refusal.code())) {
      headers.put(HttpHeader.RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    if (refusal.code() == ErrorCode.METHOD_NOT_ALLOWED) {
      headers.put(HttpHeader.ALLOW, "POST");
    }
    ByteBuffer body =
        ByteBuffer.wrap(ControlReplies.encoded(ControlReplies.of(refusal, dialect), dialect));
    send(response, refusal.code().status(dialect), body, done);
  }

  /** Whether the same request may well succeed in a moment. */
  static boolean mayTryAgain(ErrorCode code) {
    return code == ErrorCode.TOO_MANY_REQUESTS || code.status() == 503;
  }

  private static void send(Response response, int status, ByteBuffer body, Callback done) {
    response.setStatus(status);
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
    response.write(true, body, done);
  }

  /** What there are too many of at a time. */
  static ApiException busy(String what) {
    return ErrorCode.TOO_MANY_REQUESTS.because(
        "more than " + what + " at a time; try again shortly");
  }

  /** The body is longer than any may be. */
  static ApiException bodyTooLong(HttpSettings settings) {
    return ErrorCode.BODY_TOO_LARGE.because(
        "the request body is longer than " + settings.maxBodyBytes() + " bytes");
  }

  /** As many large bodies as there may be are in memory already. */
  static ApiException noRoomForBody() {
    return busy(ScratchPool.MAX_LARGE + " bodies beyond 1 MiB");
  }

  /** A body nobody wants did not end; it has been waited for long enough. */
  void unendingBody(Request request, Response response, Callback callback) {
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    answer(
        request,
        response,
        ErrorCode.BAD_REQUEST.because(
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
  void refuseUnread(Request request, Response response, ApiException refusal, Callback callback) {
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
    refuse(response, refusal, dialectOf(request), callback);
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
