// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/**
 * Reads a hash array: numbers and quoted spellings mixed, at most one blank after a comma. Called
 * by one thread; keeps its position between methods.
 */
final class HashArrayScanner {
  private static final int UNUSUAL = TokenArrayScanner.UNUSUAL;
  private static final long MAX_U64_DIV_10 = Long.divideUnsigned(-1L, 10);

  private byte[] text = {};
  private int at;
  private boolean bad;

  /**
   * Scans from the first byte after the opening bracket of a non-empty array.
   *
   * @return position after the closing bracket, or {@link TokenArrayScanner#UNUSUAL}
   */
  int scan(byte[] bytes, int from, int end, int maxItems, QueryBody into) {
    text = bytes;
    at = from;
    bad = false;
    into.resetItems();
    while (at < end && into.count() < maxItems) {
      into.addHash(element());
      byte separator = text[at++];
      if (bad || at > end) {
        return UNUSUAL;
      }
      if (separator == ']') {
        return at;
      }
      if (separator != ',') {
        return UNUSUAL;
      }
      if (text[at] == ' ') {
        at++;
      }
    }
    return UNUSUAL;
  }

  private long element() {
    if (text[at] != '"') {
      return decimal(false);
    }
    at++;
    boolean hex = text[at] == '0' && (text[at + 1] | 0x20) == 'x';
    long value = hex ? hex() : decimal(true);
    bad |= text[at++] != '"';
    return value;
  }

  private long hex() {
    at += 2;
    int from = at;
    long value = 0;
    for (int digit; (digit = hexDigit(text[at])) >= 0 && at - from < 17; at++) {
      value = value << 4 | digit;
    }
    bad |= at == from || at - from > 16;
    return value;
  }

  private static int hexDigit(byte c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    int letter = c | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

  /** Leading zeros are legal in a string only: in JSON numbers they are a syntax error. */
  private long decimal(boolean leadingZeros) {
    boolean negative = text[at] == '-';
    if (negative) {
      at++;
    }
    int from = at;
    long value = 0;
    while (at - from < 16 && Digits.nonDigits(Digits.word(text, at)) == 0) {
      value = value * 100_000_000L + Digits.eight(Digits.word(text, at));
      at += 8;
    }
    for (int digit; (digit = text[at] - '0') >= 0 && digit <= 9; at++) {
      int order = Long.compareUnsigned(value, MAX_U64_DIV_10);
      bad |= order > 0 || (order == 0 && digit > 5) || at - from >= 20;
      if (bad) {
        return 0;
      }
      value = value * 10 + digit;
    }
    bad |= at == from || (!leadingZeros && text[from] == '0' && at - from > 1);
    if (!negative) {
      return value;
    }
    // A signed text has room for 19 digits: "-0000..." of 20 is left to the slow reader too.
    bad |= at - from > 19 || Long.compareUnsigned(value, Long.MIN_VALUE) > 0;
    return -value;
  }
}
