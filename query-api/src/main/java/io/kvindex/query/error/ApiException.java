// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.error;

import org.jspecify.annotations.Nullable;

/**
 * The one way a route refuses a request. Carries no stack trace: it is an answer, not a bug, and a
 * flood of bad requests must stay cheap.
 */
public final class ApiException extends RuntimeException {
  private final ErrorCode code;
  private final transient @Nullable String field;
  private final int index;

  /**
   * @param message what was wrong, for people: names the field and the value received
   * @param field member at fault, null where no single one is
   * @param index position in that member's array, or {@link ErrorCode#NO_INDEX}
   */
  public ApiException(ErrorCode code, String message, @Nullable String field, int index) {
    super(message, null, false, false);
    this.code = code;
    this.field = field;
    this.index = index;
  }

  public ErrorCode code() {
    return code;
  }

  public @Nullable String field() {
    return field;
  }

  /** Element at fault, or {@link ErrorCode#NO_INDEX}. */
  public int index() {
    return index;
  }
}
