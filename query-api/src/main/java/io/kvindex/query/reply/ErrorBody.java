// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The body of every refusal: {@code {"error","reason","field"?,"index"?}}, in the binary dialect as
 * a MessagePack map, else as JSON.
 */
public final class ErrorBody {
  private ErrorBody() {}

  /** The body in a dialect. */
  public static byte[] of(ApiException refusal, Dialect dialect) {
    if (dialect == Dialect.BINARY) {
      return packed(refusal);
    }
    JsonBuffer out = new JsonBuffer();
    write(refusal, out);
    return out.asText().getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] packed(ApiException refusal) {
    @Nullable String field = refusal.field();
    boolean indexed = refusal.index() != ApiException.NO_INDEX;
    MsgpackBuffer out = new MsgpackBuffer();
    out.map(2 + (field == null ? 0 : 1) + (indexed ? 1 : 0));
    out.string("error").string(messageOf(refusal));
    out.string("reason").string(refusal.code().reason(Dialect.BINARY));
    if (field != null) {
      out.string("field").string(field);
    }
    if (indexed) {
      out.string("index").number(refusal.index());
    }
    return out.toBytes();
  }

  /** Replaces the buffer's content by the refusal as JSON. */
  public static void write(ApiException refusal, JsonBuffer out) {
    out.clear();
    out.raw('{').name("error").string(messageOf(refusal));
    out.raw(',').name("reason").string(refusal.code().reason());
    @Nullable String field = refusal.field();
    if (field != null) {
      out.raw(',').name("field").string(field);
    }
    if (refusal.index() != ApiException.NO_INDEX) {
      out.raw(',').name("index").number(refusal.index());
    }
    out.raw('}');
  }

  private static String messageOf(ApiException refusal) {
    @Nullable String message = refusal.getMessage();
    return message == null ? refusal.code().reason() : message;
  }
}
