// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import io.javalin.http.Context;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The dialect of a request to a control route, so that its refusals are worded in it too. */
public final class RequestDialect {
  private static final String ATTRIBUTE = "kvindex.dialect";

  private RequestDialect() {}

  /** Notes what the route found out. */
  public static void set(Context ctx, Dialect dialect) {
    ctx.attribute(ATTRIBUTE, dialect);
  }

  /**
   * As noted; else by {@code Content-Type}, of requests without a body by {@code Accept}: binary or
   * JSON as the conductor's documents have it.
   */
  public static Dialect of(Context ctx) {
    Dialect noted = ctx.attribute(ATTRIBUTE);
    if (noted != null) {
      return noted;
    }
    boolean get = ctx.method().name().equals("GET");
    @Nullable String type = get ? ctx.header("Accept") : ctx.contentType();
    boolean binary = type != null && type.toLowerCase(Locale.ROOT).contains("msgpack");
    return binary ? Dialect.BINARY : Dialect.CONDUCTOR;
  }
}
