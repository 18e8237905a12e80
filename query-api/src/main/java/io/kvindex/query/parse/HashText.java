// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import org.jspecify.annotations.Nullable;

/** The spellings of a 64-bit hash: unsigned or signed decimal, or {@code 0x} with 1-16 digits. */
public final class HashText {
  private HashText() {}

  /** Raw bits, null where the text is no number of that range. */
  public static @Nullable Long parse(String text) {
    boolean hex = text.startsWith("0x") || text.startsWith("0X");
    boolean negative = text.startsWith("-");
    int from = hex ? 2 : negative ? 1 : 0;
    int digits = text.length() - from;
    if (digits < 1 || digits > (hex ? 16 : negative ? 19 : 20) || !areDigits(text, from, hex)) {
      return null;
    }
    try {
      if (hex) {
        return Long.parseUnsignedLong(text, from, text.length(), 16);
      }
      return negative ? Long.parseLong(text) : Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) { // beyond i64 or u64
      return null;
    }
  }

  /** In ASCII: what {@link Long} takes for digits is more. */
  private static boolean areDigits(String text, int from, boolean hex) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean decimal = c >= '0' && c <= '9';
      boolean letter = c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F';
      if (!decimal && !(hex && letter)) {
        return false;
      }
    }
    return true;
  }
}
