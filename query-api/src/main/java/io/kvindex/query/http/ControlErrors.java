// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.ControlReplies;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one table from exceptions to answers for Javalin's routes. */
final class ControlErrors {
  private static final Logger LOG = LoggerFactory.getLogger(ControlErrors.class);
  private static final AtomicLong INCIDENTS = new AtomicLong();

  private ControlErrors() {}

  static void install(JavalinConfig config, HttpMeters meters) {
    config.routes.exception(ApiException.class, (e, ctx) -> answer(ctx, e, meters));
    config.routes.exception(
        HttpResponseException.class,
        (e, ctx) -> {
          answer(ctx, translate(e, ctx), meters);
          if (e.getStatus() == 405) {
            ctx.header("Allow", allowed(e));
          }
        });
    config.routes.exception(
        Exception.class,
        (e, ctx) -> {
          long incident = INCIDENTS.incrementAndGet();
          LOG.error("{} {} failed, incident=c{}", ctx.method(), ctx.path(), incident, e);
          answer(
              ctx,
              ErrorCode.INTERNAL.because(
                  "internal error, see the server's log, incident c" + incident),
              meters);
        });
  }

  private static ApiException translate(HttpResponseException e, Context ctx) {
    String route = ctx.method() + " " + ErrorCode.echo(ctx.path());
    return switch (e.getStatus()) {
      case 404 -> ErrorCode.NOT_FOUND.because("no such path: " + route);
      case 405 -> ErrorCode.METHOD_NOT_ALLOWED.because(route + ": use " + allowed(e));
      case 413 -> ErrorCode.BODY_TOO_LARGE.because("the request body is too long");
      default ->
          (e.getStatus() >= 500 ? ErrorCode.INTERNAL : ErrorCode.BAD_REQUEST).because(textOf(e));
    };
  }

  /** The methods a path has; Javalin names this detail in two ways and there is no other. */
  private static String allowed(HttpResponseException e) {
    return String.join(", ", e.getDetails().values());
  }

  private static String textOf(HttpResponseException e) {
    @Nullable String message = e.getMessage();
    return message == null ? "HTTP status " + e.getStatus() : message;
  }

  private static void answer(Context ctx, ApiException refusal, HttpMeters meters) {
    meters.refused(refusal.code());
    drain(ctx);
    if (ctx.res().isCommitted()) {
      return; // its beginning is on its way: behind that a refusal is no answer
    }
    ctx.res().resetBuffer();
    Dialect dialect = RequestDialect.of(ctx);
    ctx.status(refusal.code().status(dialect));
    ControlReplies.send(ctx, dialect, ControlReplies.of(refusal, dialect));
    if (Replies.mayTryAgain(refusal.code())) {
      ctx.header("Retry-After", Replies.RETRY_AFTER_SECONDS);
    }
  }

  /**
   * Reads what is left of the body before the refusal goes out: with unread input the connection
   * would be closed, and with it the client's next request, or reset, and the client may never see
   * the answer. Bounded as in {@link BodyDrain}, but a thread waits: never for a GET, whose body is
   * gone by now ({@link HotRoutes}), and of others there are few at a time.
   */
  private static void drain(Context ctx) {
    long start = System.nanoTime();
    byte[] chunk = new byte[1 << 16];
    try {
      InputStream rest = ctx.req().getInputStream();
      long bytes = 0;
      int read = 0;
      while (read >= 0
          && bytes < BodyDrain.MAX_BYTES
          && System.nanoTime() - start < BodyDrain.MAX_NANOS) {
        read = rest.read(chunk);
        bytes += read;
      }
    } catch (IOException e) {
      LOG.debug("the client went away while its refused body was read", e);
    }
  }
}
