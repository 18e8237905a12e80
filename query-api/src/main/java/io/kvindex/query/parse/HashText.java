// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** The spellings of a 64-bit hash: unsigned or signed decimal, or {@code 0x} with 1-16 digits. */
final class HashText {
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MAX = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
  private static final int MAX_LENGTH = 20;

  private HashText() {}

  /** Raw bits, null where the text is no number of that range. */
  static @Nullable Long parse(String text) {
    if (text.length() > 2 && text.charAt(0) == '0' && (text.charAt(1) | 0x20) == 'x') {
      return hex(text);
    }
    int from = text.startsWith("-") ? 1 : 0;
    if (text.length() == from || text.length() > MAX_LENGTH) {
      return null;
    }
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return null;
      }
    }
    return bits(new BigInteger(text));
  }

  /** Raw bits of a whole number, null beyond i64 and u64. */
  static @Nullable Long bits(BigInteger value) {
    return value.compareTo(MIN) < 0 || value.compareTo(MAX) > 0 ? null : value.longValue();
  }

  private static @Nullable Long hex(String text) {
    if (text.length() > 18) {
      return null;
    }
    long bits = 0;
    for (int i = 2; i < text.length(); i++) {
      char c = text.charAt(i);
      int digit = c < 0x80 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        return null;
      }
      bits = bits << 4 | digit;
    }
    return bits;
  }
}
