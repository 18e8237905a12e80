// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.JsonDialect;
import java.util.Map;

/** {@code POST /register}, {@code POST /unregister}, by the dialect of the request. */
public final class RegistrationRoutes {
  private final Map<Dialect, RegistrationDialect> dialects;

  /**
   * @param dialects who serves which
   */
  public RegistrationRoutes(Map<Dialect, RegistrationDialect> dialects) {
    this.dialects = Map.copyOf(dialects);
  }

  public void addTo(RoutesConfig routes) {
    routes.post("/register", ctx -> speaker(ctx).register(ctx, ctx.bodyAsBytes()));
    routes.post("/unregister", ctx -> speaker(ctx).unregister(ctx, ctx.bodyAsBytes()));
  }

  private RegistrationDialect speaker(Context ctx) {
    byte[] body = ctx.bodyAsBytes();
    Dialect dialect =
        BodyType.of(ctx.contentType()) == BodyType.MSGPACK
            ? Dialect.BINARY
            : JsonDialect.of(body, 0, body.length);
    RequestDialect.set(ctx, dialect);
    RegistrationDialect speaker = dialects.get(dialect);
    if (speaker == null) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED, "registrations in the " + dialect + " dialect are not served yet");
    }
    return speaker;
  }
}
