// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.error;

import io.kvindex.query.dialect.Dialect;

/**
 * Catalogue of everything this server refuses. {@link #reason()} is the stable text a client may
 * branch on; the human text beside it may change between versions.
 */
public enum ErrorCode {
  INVALID_JSON(400, "invalid_json"),
  INVALID_MSGPACK(400, "invalid_msgpack"),
  MISSING(400, "missing"),
  INVALID_TYPE(400, "invalid_type"),
  INVALID_VALUE(400, "invalid_value"),
  OUT_OF_RANGE(400, "out_of_range"),
  CONFLICTING_FIELDS(400, "conflicting_fields"),
  UNKNOWN_FIELD(400, "unknown_field"),
  UNSUPPORTED(400, "unsupported"),
  NOT_FOUND(404, "not_found"),
  SERVICE_NOT_FOUND(404, "service_not_found"),
  METHOD_NOT_ALLOWED(405, "method_not_allowed"),
  REGISTRATION_CONFLICT(409, "registration_conflict"),
  HASH_PROFILE_CONFLICT(409, "registration_conflict"),
  BODY_TOO_LARGE(413, "body_too_large"),
  TOO_MANY_ITEMS(413, "too_many_items"),
  UNSUPPORTED_CONTENT_TYPE(415, "unsupported_content_type"),
  TOO_MANY_REQUESTS(429, "too_many_requests"),
  BAD_REQUEST(400, "bad_request"),
  INTERNAL(500, "internal"),
  NOT_READY(503, "not_ready"),
  REGISTRATION_TIMEOUT(503, "registration_timeout"),
  DEADLINE_EXCEEDED(503, "deadline_exceeded"),
  EVENT_NOT_VISIBLE(503, "event_not_visible");

  /** {@link ApiException#index()} of a refusal that no single array element is to blame for. */
  public static final int NO_INDEX = -1;

  private static final int MAX_ECHO = 80;

  private final int status;
  private final String reason;

  ErrorCode(int status, String reason) {
    this.status = status;
    this.reason = reason;
  }

  /** HTTP status in a dialect, 400 to 599. */
  public int status(Dialect dialect) {
    // Dynamo's framework tells a body that is no JSON (400) from one that has not the form (422).
    boolean form = this == MISSING || this == INVALID_TYPE || this == OUT_OF_RANGE;
    if (dialect == Dialect.BINARY && isConflict()) {
      return 400;
    }
    return form && dialect == Dialect.DYNAMO ? 422 : status;
  }

  /** HTTP status where no dialect is known, 400 to 599. */
  public int status() {
    return status;
  }

  /** Value of the body's {@code reason} member where the dialect has no word of its own. */
  public String reason() {
    return reason;
  }

  /** Value of the body's {@code reason} member in a dialect. */
  public String reason(Dialect dialect) {
    return dialect == Dialect.BINARY && isConflict() ? "invalid_registration" : reason;
  }

  /** The refusal for this reason; no single member is to blame. */
  public ApiException because(String message) {
    return new ApiException(this, message, null, NO_INDEX);
  }

  /** The same where a member is. */
  public ApiException of(String field, String message) {
    return new ApiException(this, message, field, NO_INDEX);
  }

  /** The same in words that go on behind the member's name. */
  public ApiException member(String field, String isWrong) {
    return of(field, "`" + field + "` " + isWrong);
  }

  /** The same where an element of a member is to blame. */
  public ApiException element(String field, int index, String message) {
    return new ApiException(this, message, field, index);
  }

  /**
   * A member, or an element of it, is something else than it has to be.
   *
   * @param index of the element, {@link #NO_INDEX} = the member itself
   * @param got what it is, shortened
   */
  public ApiException mustBe(String field, int index, String wanted, String got) {
    String place = "`" + field + (index == NO_INDEX ? "`" : "[" + index + "]`");
    return element(field, index, place + " must be " + wanted + ", got " + got);
  }

  /** The same of a member itself. */
  public ApiException mustBe(String field, String wanted, String got) {
    return mustBe(field, NO_INDEX, wanted, got);
  }

  /** A received value shortened for a message, so that an answer never mirrors a huge input. */
  public static String echo(String received) {
    return received.length() <= MAX_ECHO ? received : received.substring(0, MAX_ECHO) + "...";
  }

  /** Two members that say the same are both there. */
  public static ApiException both(String one, String other, String atFault) {
    return CONFLICTING_FIELDS.of(atFault, "use either `" + one + "` or `" + other + "`, not both");
  }

  /** A member that has to be there is not. */
  public static ApiException missing(String field) {
    return MISSING.member(field, "is missing");
  }

  private boolean isConflict() {
    return this == REGISTRATION_CONFLICT || this == HASH_PROFILE_CONFLICT;
  }
}
