// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import io.kvindex.query.error.ApiException;
import org.jspecify.annotations.Nullable;

/** The body of every refusal: {@code {"error","reason","field"?,"index"?}}. */
public final class ErrorBody {
  private ErrorBody() {}

  /** Replaces the buffer's content by the refusal. */
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
