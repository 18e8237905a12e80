// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.ErrorBody;
import io.kvindex.query.reply.JsonBuffer;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Gives Jetty's own refusals (a broken request line, a header too long) the common body. */
final class JettyErrors extends ErrorHandler {

  @Override
  protected void generateResponse(
      Request request,
      Response response,
      int status,
      @Nullable String message,
      @Nullable Throwable cause,
      Callback callback) {
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
    response.write(true, body(status, message), callback);
  }

  @Override
  public ByteBuffer badMessageError(
      int status, @Nullable String reason, HttpFields.Mutable fields) {
    fields.put(HttpHeader.CONTENT_TYPE, "application/json");
    return body(status, reason);
  }

  private static ByteBuffer body(int status, @Nullable String message) {
    ErrorCode code = status >= 500 ? ErrorCode.INTERNAL : ErrorCode.BAD_REQUEST;
    String text = status >= 500 || message == null ? "HTTP status " + status : message;
    JsonBuffer body = new JsonBuffer();
    ErrorBody.write(ApiException.of(code, text), body);
    return body.asByteBuffer();
  }
}
