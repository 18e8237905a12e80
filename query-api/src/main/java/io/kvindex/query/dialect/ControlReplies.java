// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import io.javalin.http.Context;
import org.jspecify.annotations.Nullable;

/** How the control routes send a body in each dialect. */
public final class ControlReplies {
  /** Content-Type of MessagePack bodies. */
  public static final String MSGPACK = "application/msgpack";

  private static final String JSON = "application/json";
  private static final @Nullable String NO_CHARSET = null;

  private ControlReplies() {}

  /**
   * Sends an encoded body.
   *
   * @param body MessagePack in the binary dialect, else JSON
   */
  public static void send(Context ctx, Dialect dialect, byte[] body) {
    boolean binary = dialect == Dialect.BINARY;
    ctx.contentType(binary ? MSGPACK : JSON).result(body);
    if (binary) {
      ctx.res().setCharacterEncoding(NO_CHARSET); // else the server adds one to the type
    }
  }
}
