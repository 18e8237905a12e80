// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/**
 * Reads {@code [1,2, 3]} into a body's token array. Works on a bit mask of all but the digits of 64
 * bytes at a time, so that finding the next number does not wait for the previous one: that wait is
 * what limits a scanner that goes number by number. The mask also says that what lies between two
 * separators is digits, so that no number has to be looked at again for it.
 */
final class TokenArrayScanner {
  /** Answer for an array this scanner leaves to Jackson. */
  static final int UNUSUAL = -1;

  /** Bytes that must be readable (and are ignored) beyond the end of the text. */
  static final int PADDING = 64;

  private static final int BLOCK = Long.SIZE;
  private static final int MAX_DIGITS = 10;
  private static final int COMMA_SPACE = ',' | ' ' << 8;
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
    for (int base = from; base < end; base += BLOCK) {
      if (tokens.length - count < BLOCK) {
        if (count >= maxItems) {
          return UNUSUAL;
        }
        tokens = into.tokensWithRoom(count + BLOCK);
      }
      long separators = Digits.nonDigitMask(text, base);
      if (end - base < BLOCK) {
        separators |= -1L << (end - base);
      }
      // Of a comma and a space only the comma ends a number.
      for (long ends = separators & ~(separators << 1); ends != 0; ends &= ends - 1) {
        int at = base + Long.numberOfTrailingZeros(ends);
        int after = Digits.pair(text, at);
        if ((after & 0xFF) != ',') {
          if (at < start) {
            continue; // the space after a comma that was the last byte of a block
          }
          return last(text, start, end, count, maxItems, into);
        }
        long value = value(text, start, at);
        if (value < 0) {
          return UNUSUAL;
        }
        tokens[count++] = (int) value;
        start = after == COMMA_SPACE ? at + 2 : at + 1;
      }
    }
    return last(text, start, end, count, maxItems, into);
  }

  /** The number before the closing bracket. */
  private static int last(
      byte[] text, int start, int end, int count, int maxItems, QueryBody into) {
    int at = start;
    while (at < end && text[at] >= '0' && text[at] <= '9') {
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

  /**
   * Value of the bytes in {@code [start, at)}, -1 for what is not a plain u32.
   *
   * @param at the first byte after the digits that follow the last separator: when the byte at
   *     {@code start} is a digit, all up to {@code at} are
   */
  private static long value(byte[] text, int start, int at) {
    int digits = at - start;
    long word = Digits.word(text, start);
    byte first = (byte) word;
    if (first >= '1' && first <= '9' && digits <= 8) {
      return Digits.head(word, digits);
    }
    return first == '0' ? (digits == 1 ? 0 : -1) : large(text, start, digits);
  }

  private static long large(byte[] text, int start, int digits) {
    if (digits <= 8 || digits > MAX_DIGITS || text[start] < '1' || text[start] > '9') {
      return -1;
    }
    long high = Digits.head(Digits.word(text, start), digits - 8);
    long value = high * TEN_TO_8 + Digits.eight(Digits.word(text, start + digits - 8));
    return value <= MAX_U32 ? value : -1;
  }
}
