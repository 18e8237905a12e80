// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.error;

import org.jspecify.annotations.Nullable;

/**
 * The one way a route refuses a request. Carries no stack trace: it is an answer, not a bug, and a
 * flood of bad requests must stay cheap.
 */
public final class ApiException extends RuntimeException {
  /** {@link #index()} of a refusal that no single array element is to blame for. */
  public static final int NO_INDEX = -1;

  private static final int MAX_ECHO = 80;

  private final ErrorCode code;
  private final transient @Nullable String field;
  private final int index;

  /**
   * @param message what was wrong, for people: names the field and the value received
   * @param field member at fault, null where no single one is
   * @param index position in that member's array, or {@link #NO_INDEX}
   */
  public ApiException(ErrorCode code, String message, @Nullable String field, int index) {
    super(message, null, false, false);
    this.code = code;
    this.field = field;
    this.index = index;
  }

  public static ApiException of(ErrorCode code, String message) {
    return new ApiException(code, message, null, NO_INDEX);
  }

  public static ApiException field(ErrorCode code, String field, String message) {
    return new ApiException(code, message, field, NO_INDEX);
  }

  public static ApiException element(ErrorCode code, String field, int index, String message) {
    return new ApiException(code, message, field, index);
  }

  /** A member that has to be there is not. */
  public static ApiException missing(String field) {
    return field(ErrorCode.MISSING, field, "`" + field + "` is missing");
  }

  /**
   * A member, or an element of it, is something else than it has to be.
   *
   * @param index of the element, {@link #NO_INDEX} = the member itself
   * @param got what it is, shortened
   */
  public static ApiException mustBe(
      ErrorCode code, String field, int index, String wanted, String got) {
    String place = "`" + field + (index == NO_INDEX ? "`" : "[" + index + "]`");
    return new ApiException(code, place + " must be " + wanted + ", got " + got, field, index);
  }

  /** A received value shortened for a message, so that an answer never mirrors a huge input. */
  public static String echo(String received) {
    return received.length() <= MAX_ECHO ? received : received.substring(0, MAX_ECHO) + "...";
  }

  public ErrorCode code() {
    return code;
  }

  public @Nullable String field() {
    return field;
  }

  /** Element at fault, or {@link #NO_INDEX}. */
  public int index() {
    return index;
  }
}
