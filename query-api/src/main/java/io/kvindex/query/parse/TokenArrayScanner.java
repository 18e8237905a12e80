// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/**
 * Reads {@code [1,2, 3]} into a body's token array. Works on a bit mask of the commas of 64 bytes
 * at a time, so that finding the next number does not wait for the previous one: that wait is what
 * limits a scanner that goes number by number.
 */
final class TokenArrayScanner {
  /** Answer for an array this scanner leaves to Jackson. */
  static final int UNUSUAL = -1;

  /** Bytes that must be readable (and are ignored) beyond the end of the text. */
  static final int PADDING = 64;

  private static final int MAX_DIGITS = 10;
  private static final long TEN_TO_8 = 100_000_000L;
  private static final long MAX_U32 = 0xFFFF_FFFFL;

  private TokenArrayScanner() {}

  /**
   * Scans from the first byte after the opening bracket of a non-empty array.
   *
   * @param from at least 8, so that a word before the first digit's end can be read
   * @return position after the closing bracket, or {@link #UNUSUAL}
   */
  static int scan(byte[] text, int from, int end, int maxItems, QueryBody into) {
    // The limit is looked at when the array is full and at the end, not for each number.
    int[] tokens = into.tokensWithRoom(Math.min(maxItems, (end - from) / 4 + 16));
    int start = from;
    int count = 0;
    for (int base = from; base < end; base += 64) {
      for (long mask = Digits.commaMask(text, base); mask != 0; mask &= mask - 1) {
        int at = base + Long.numberOfTrailingZeros(mask);
        long value = value(text, start, at);
        if (value < 0) {
          // No number up to a comma: the comma is another member's, or the array is unusual.
          return last(text, start, end, count, maxItems, into);
        }
        if (count == tokens.length) {
          if (count >= maxItems) {
            return UNUSUAL;
          }
          tokens = into.tokensWithRoom(count + 1);
        }
        tokens[count++] = (int) value;
        start = text[at + 1] == ' ' ? at + 2 : at + 1;
      }
    }
    return last(text, start, end, count, maxItems, into);
  }

  /** The number before the closing bracket. */
  private static int last(
      byte[] text, int start, int end, int count, int maxItems, QueryBody into) {
    int at = start;
    while (at < end && at - start <= MAX_DIGITS && text[at] != ']') {
      at++;
    }
    if (at >= end || text[at] != ']' || count >= maxItems) {
      return UNUSUAL;
    }
    long value = value(text, start, at);
    if (value < 0) {
      return UNUSUAL;
    }
    into.tokensWithRoom(count + 1)[count] = (int) value;
    into.setCount(count + 1);
    return at + 1;
  }

  /** Value of the bytes in {@code [start, at)}, -1 for what is not a plain u32. */
  private static long value(byte[] text, int start, int at) {
    int digits = at - start;
    long word = Digits.word(text, start);
    if (digits <= 0 || ((byte) word == '0' && digits > 1)) {
      return -1;
    }
    if (digits <= 8) {
      return Digits.head(word, digits);
    }
    if (digits > MAX_DIGITS) {
      return -1;
    }
    long high = Digits.tail(Digits.word(text, at - 16), digits - 8);
    long low = Digits.tail(Digits.word(text, at - 8), 8);
    long value = high * TEN_TO_8 + low;
    return high >= 0 && low >= 0 && value <= MAX_U32 ? value : -1;
  }
}
