// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Arithmetic on eight ASCII bytes held in one long, first byte lowest. Source of the folding
 * constants: D. Lemire, "Quickly parsing eight digits" (2018).
 */
final class Digits {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ZEROS = 0x3030303030303030L;
  private static final long COMMAS = 0x2C2C2C2C2C2C2C2CL;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
  private static final long TO_HIGH_BIT = 0x7676767676767676L;
  private static final long GATHER = 0x0102040810204080L;

  private Digits() {}

  static long word(byte[] bytes, int at) {
    return (long) WORD.get(bytes, at);
  }

  /** High bit of each byte that is no ASCII digit. */
  static long nonDigits(long word) {
    long t = word ^ ZEROS;
    return (((t & LOW_BITS) + TO_HIGH_BIT) | t) & HIGH_BITS;
  }

  /** Bit i of the result: byte {@code at + i} is a comma. Reads 64 bytes. */
  static long commaMask(byte[] bytes, int at) {
    long mask = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      long x = word(bytes, at + i * Long.BYTES) ^ COMMAS;
      long flags = (~(((x & LOW_BITS) + LOW_BITS) | x) & HIGH_BITS) >>> 7;
      mask |= ((flags * GATHER) >>> 56) << (i * Long.BYTES);
    }
    return mask;
  }

  /**
   * Value of the last {@code digits} (1 to 8) bytes of a word whose other bytes are ignored, -1 if
   * one of them is no digit.
   */
  static long tail(long word, int digits) {
    long nibbles = (word ^ ZEROS) & (-1L << (64 - 8 * digits));
    long flags = (((nibbles & LOW_BITS) + TO_HIGH_BIT) | nibbles) & HIGH_BITS;
    return flags == 0 ? fold(nibbles) : -1;
  }

  /**
   * Value of the first {@code digits} (1 to 8) bytes of a word whose other bytes are ignored, -1 if
   * one of them is no digit.
   */
  static long head(long word, int digits) {
    long nibbles = (word ^ ZEROS) << -8 * digits; // the shift counts modulo 64
    long flags = (((nibbles & LOW_BITS) + TO_HIGH_BIT) | nibbles) & HIGH_BITS;
    return flags == 0 ? fold(nibbles) : -1;
  }

  /** Value of eight digit bytes. */
  static long eight(long word) {
    return fold(word ^ ZEROS);
  }

  private static long fold(long nibbles) {
    long pairs = (nibbles * 2561) >>> 8 & 0x00FF00FF00FF00FFL;
    long quads = (pairs * 6553601) >>> 16 & 0x0000FFFF0000FFFFL;
    return (quads * 42949672960001L) >>> 32;
  }
}
