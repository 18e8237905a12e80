// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.dialect.ControlReplies;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.ErrorBody;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Writes answers to Jetty responses; header fields that repeat are encoded once. */
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
  private static final HttpField EXACT = new PreEncodedHttpField(STATE_HEADER, "exact");
  private static final HttpField NO_LAG = new PreEncodedHttpField(LAG_HEADER, "0");

  private Replies() {}

  static void ok(Response response, QueryReply reply, Callback done) {
    HttpFields.Mutable headers = response.getHeaders();
    headers.add(reply.isOctets() ? OCTETS : reply.isPacked() ? MSGPACK : JSON);
    @Nullable String state = reply.state();
    if (state != null) {
      headers.add(state.equals("exact") ? EXACT : new HttpField(STATE_HEADER, state));
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
    ByteBuffer body = ByteBuffer.wrap(ErrorBody.of(refusal, dialect));
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
}
