// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.math.BigInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The spellings of a 64-bit hash: unsigned or signed decimal, or {@code 0x} with 1-16 digits. */
public final class HashText {
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MAX = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
  private static final Pattern HEX = Pattern.compile("0[xX][0-9a-fA-F]{1,16}");
  private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,20}|-[0-9]{1,19}");

  private HashText() {}

  /** Raw bits, null where the text is no number of that range. */
  public static @Nullable Long parse(String text) {
    if (HEX.matcher(text).matches()) {
      return Long.parseUnsignedLong(text, 2, text.length(), 16);
    }
    return DECIMAL.matcher(text).matches() ? bits(new BigInteger(text)) : null;
  }

  /** Raw bits of a whole number, null beyond i64 and u64. */
  static @Nullable Long bits(BigInteger value) {
    return value.compareTo(MIN) < 0 || value.compareTo(MAX) > 0 ? null : value.longValue();
  }
}
