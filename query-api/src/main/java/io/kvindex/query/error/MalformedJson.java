// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.error;

import com.fasterxml.jackson.core.JsonLocation;
import org.jspecify.annotations.Nullable;

/** The refusal of a body that is no JSON. */
public final class MalformedJson {

  private MalformedJson() {}

  /**
   * Says what is wrong, and where.
   *
   * @param place null = unknown
   * @param what in words for the client, as {@link ApiException#echo} leaves them
   */
  public static ApiException at(@Nullable JsonLocation place, String what) {
    String where =
        place == null ? "" : " at line " + place.getLineNr() + ", column " + place.getColumnNr();
    return ApiException.of(ErrorCode.INVALID_JSON, "malformed JSON" + where + ": " + what);
  }
}
