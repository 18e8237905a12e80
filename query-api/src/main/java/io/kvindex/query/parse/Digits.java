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
  private static final VarHandle PAIR =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ZEROS = 0x3030303030303030L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
  private static final long TO_HIGH_BIT = 0x7676767676767676L;
  private static final long GATHER = 0x0002040810204081L;

  private Digits() {}

  static long word(byte[] bytes, int at) {
    return (long) WORD.get(bytes, at);
  }

  /** The byte at {@code at}, and the one after it shifted left by eight. */
  static int pair(byte[] bytes, int at) {
    return (short) PAIR.get(bytes, at) & 0xFFFF;
  }

  /** High bit of each byte that is no ASCII digit. */
  static long nonDigits(long word) {
    long t = word ^ ZEROS;
    return (((t & LOW_BITS) + TO_HIGH_BIT) | t) & HIGH_BITS;
  }

  /**
   * Bit i of the result: byte {@code at + i} is no ASCII digit. Reads 64 bytes.
   *
   * <p>Written out, not as a loop over eight words: where such a loop is inlined into one over the
   * bits of the mask, JDK 17's compiler (17.0.15, C2, on-stack replacement with loop unrolling) was
   * seen to lose bits.
   */
  static long nonDigitMask(byte[] bytes, int at) {
    return nonDigitBits(bytes, at)
        | nonDigitBits(bytes, at + 8) << 8
        | nonDigitBits(bytes, at + 16) << 16
        | nonDigitBits(bytes, at + 24) << 24
        | nonDigitBits(bytes, at + 32) << 32
        | nonDigitBits(bytes, at + 40) << 40
        | nonDigitBits(bytes, at + 48) << 48
        | nonDigitBits(bytes, at + 56) << 56;
  }

  /** The same for eight bytes. */
  private static long nonDigitBits(byte[] bytes, int at) {
    return (nonDigits(word(bytes, at)) * GATHER) >>> 56;
  }

  /** Value of the first {@code digits} (1 to 8) bytes of a word; they must be digits. */
  static long head(long word, int digits) {
    return fold((word ^ ZEROS) << -8 * digits); // the shift counts modulo 64
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
