// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ErrorCode;
import java.nio.charset.StandardCharsets;

/**
 * Texts that can be written as UTF-8. JSON's escapes can spell half a surrogate pair, which becomes
 * a question mark wherever a name is hashed or stored: it would pass for another name.
 */
public final class WholeText {
  private WholeText() {}

  /**
   * The text of a member.
   *
   * @throws io.kvindex.query.error.ApiException if a surrogate stands alone in it
   */
  public static String require(String field, String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw ErrorCode.INVALID_VALUE.member(field, "has half a surrogate pair");
    }
    return text;
  }
}
