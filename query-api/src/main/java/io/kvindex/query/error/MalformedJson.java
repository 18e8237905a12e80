// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.error;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The refusal of a request body that is no JSON. */
public final class MalformedJson {

  private MalformedJson() {}

  /** Says what is wrong, and where, without the parser's jargon. */
  public static ApiException of(IOException problem) {
    if (!(problem instanceof JsonProcessingException e)) {
      return ErrorCode.INVALID_JSON.because("the request body is no readable text");
    }
    String what = e.getOriginalMessage();
    int jargon = what.indexOf(" (start marker");
    String line = (jargon < 0 ? what : what.substring(0, jargon)).lines().findFirst().orElse("");
    return at(e.getLocation(), ErrorCode.echo(line));
  }

  /**
   * The same in other words.
   *
   * @param place null = unknown
   * @param what in words for the client, as {@link ErrorCode#echo} leaves them
   */
  public static ApiException at(@Nullable JsonLocation place, String what) {
    String where =
        place == null ? "" : " at line " + place.getLineNr() + ", column " + place.getColumnNr();
    return ErrorCode.INVALID_JSON.because("malformed JSON" + where + ": " + what);
  }
}
