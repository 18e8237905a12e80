// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ErrorCode;

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
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        boolean pair =
            i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
        if (!pair) {
          throw ErrorCode.INVALID_VALUE.member(field, "has half a surrogate pair");
        }
        i++;
      }
    }
    return text;
  }
}
