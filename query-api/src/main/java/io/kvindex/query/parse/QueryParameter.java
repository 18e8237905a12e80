// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.javalin.http.Context;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import org.jspecify.annotations.Nullable;

/** Parameters of a query string. */
public final class QueryParameter {
  private QueryParameter() {}

  /**
   * A whole number within bounds.
   *
   * @throws ApiException if it is none
   */
  public static int number(Context ctx, String name, int ifAbsent, int min, int max) {
    @Nullable String text = ctx.queryParam(name);
    if (text == null) {
      return ifAbsent;
    }
    if (text.matches("[0-9]{1,10}")) {
      long value = Long.parseLong(text);
      if (value >= min && value <= max) {
        return (int) value;
      }
    }
    throw ErrorCode.OUT_OF_RANGE.mustBe(name, min + " to " + max, ErrorCode.echo(text));
  }

  /**
   * Whether it is {@code true}; absent, it is not.
   *
   * @throws ApiException if it is something else than {@code true} or {@code false}
   */
  public static boolean flag(Context ctx, String name) {
    @Nullable String text = ctx.queryParam(name);
    if (text == null || text.equals("false")) {
      return false;
    } else if (text.equals("true")) {
      return true;
    }
    throw ErrorCode.INVALID_VALUE.mustBe(name, "true or false", ErrorCode.echo(text));
  }
}
