// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import io.javalin.http.Context;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The dialect of a request as far as it shows before the body is read: refusals are worded in it.
 */
public final class RequestDialect {
  private static final String ATTRIBUTE = "kvindex.dialect";

  /** Served by Dynamo's indexer and by none of the others. */
  private static final Set<String> DYNAMO_ONLY =
      Set.of(
          "/query_tiered_by_hash",
          "/dump",
          "/register_peer",
          "/deregister_peer",
          "/peers",
          "/reopen_logs");

  private RequestDialect() {}

  /** Notes what the route found out. */
  public static void set(Context ctx, Dialect dialect) {
    ctx.attribute(ATTRIBUTE, dialect);
  }

  /** As noted; else as {@link #of(String, String, String, String, String)} has it. */
  public static Dialect of(Context ctx) {
    Dialect noted = ctx.attribute(ATTRIBUTE);
    return noted != null
        ? noted
        : of(
            ctx.method().name(),
            ctx.path(),
            ctx.contentType(),
            ctx.header("Accept"),
            ctx.queryString());
  }

  /**
   * By the type, then by the path, then by the names in the query string of octets; else the
   * conductor's.
   *
   * @param path null = unknown
   * @param accept tells the type where there is no body
   * @param parameters the query string, null if there is none
   */
  public static Dialect of(
      String method,
      @Nullable String path,
      @Nullable String contentType,
      @Nullable String accept,
      @Nullable String parameters) {
    boolean bare = method.equals("GET") || contentType == null && !method.equals("POST");
    String type = lower(bare ? accept : contentType);
    if (type.contains("msgpack")) {
      return Dialect.BINARY;
    }
    boolean octets = type.startsWith("application/octet-stream") && parameters != null;
    boolean dynamo = octets && ("&" + parameters).contains("&model_name=");
    return dynamo || path != null && DYNAMO_ONLY.contains(path)
        ? Dialect.DYNAMO
        : Dialect.CONDUCTOR;
  }

  private static String lower(@Nullable String type) {
    return type == null ? "" : type.toLowerCase(Locale.ROOT);
  }
}
