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
    try {
      int value = Integer.parseInt(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw outOfRange(name, min, max);
    }
    throw outOfRange(name, min, max);
  }

  private static ApiException outOfRange(String name, int min, int max) {
    return ErrorCode.OUT_OF_RANGE.of(name, name + " must be from " + min + " to " + max);
  }
}
