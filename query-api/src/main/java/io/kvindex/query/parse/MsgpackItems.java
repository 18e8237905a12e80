// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads token and hash lists of MessagePack bodies, as arrays of integers or as bytes. */
final class MsgpackItems {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** By lead byte, for unsigned integers of up to 32 bits: encoded bytes, 0 for anything else. */
  private static final byte[] SIZE = new byte[256];

  /** By lead byte: where its value ends in a word that begins with it, and how wide it is. */
  private static final byte[] SHIFT = new byte[256];

  private static final long[] MASK = new long[256];

  static {
    for (int lead = 0; lead < 0x80; lead++) {
      plain(lead, 1, 0x7F);
    }
    plain(0xCC, 2, 0xFF);
    plain(0xCD, 3, 0xFFFF);
    plain(0xCE, 5, 0xFFFF_FFFFL);
  }

  private MsgpackItems() {}

  private static void plain(int lead, int size, long mask) {
    SIZE[lead] = (byte) size;
    SHIFT[lead] = (byte) (Long.SIZE - Byte.SIZE * size);
    MASK[lead] = mask;
  }

  /** Token ids: int32, little-endian where they are bytes. */
  static void tokens(MsgpackCursor in, String field, int maxItems, QueryBody into) {
    into.resetItems();
    if (in.kind() == Kind.BINARY) {
      int count = counted(in.byteLength(), Integer.BYTES, field, maxItems);
      int[] tokens = into.tokensWithRoom(count);
      byte[] bytes = in.bytes();
      int from = in.at();
      for (int i = 0; i < count; i++) {
        tokens[i] = (int) INT.get(bytes, from + i * Integer.BYTES);
      }
      in.moveTo(from + count * Integer.BYTES);
      into.setCount(count);
      return;
    }
    int count = elements(in, field, maxItems);
    int[] tokens = into.tokensWithRoom(count);
    for (int i = plainTokens(in, tokens, 0, count); i < count; ) {
      tokens[i] = token(in, field, i);
      i = plainTokens(in, tokens, i + 1, count);
    }
    into.setCount(count);
  }

  /**
   * Reads on while tokens are written unsigned and are none beyond int32. One load brings a token
   * and its form, so that forms may alternate without a branch guessed wrong.
   *
   * @return index of the first one that was not read
   */
  private static int plainTokens(MsgpackCursor in, int[] tokens, int from, int count) {
    byte[] bytes = in.bytes();
    int end = Math.min(in.end(), bytes.length - Long.BYTES + 1);
    int at = in.at();
    int i = from;
    while (i < count && at < end) {
      int lead = bytes[at] & 0xFF;
      long value = (long) WORD.get(bytes, at) >>> SHIFT[lead] & MASK[lead];
      int size = SIZE[lead];
      if (size == 0 || value > Integer.MAX_VALUE) {
        break;
      }
      tokens[i++] = (int) value;
      at += size;
    }
    in.moveTo(at);
    return i;
  }

  private static int token(MsgpackCursor in, String field, int index) {
    if (in.kind() != Kind.INTEGER) {
      throw MsgpackValues.wrongType(in, field, index, "an int32");
    }
    long value = in.integer();
    if (value != (int) value || in.isUnsigned()) {
      throw MsgpackValues.outOfRange(in, value, field, index, "an int32");
    }
    return (int) value;
  }

  /** Hashes: 64 bits, signed or not, little-endian where they are bytes. */
  static void hashes(MsgpackCursor in, String field, int maxItems, QueryBody into) {
    into.resetItems();
    if (in.kind() == Kind.BINARY) {
      int count = counted(in.byteLength(), Long.BYTES, field, maxItems);
      long[] hashes = into.hashesWithRoom(count);
      int from = in.at();
      for (int i = 0; i < count; i++) {
        hashes[i] = (long) LONG.get(in.bytes(), from + i * Long.BYTES);
      }
      in.moveTo(from + count * Long.BYTES);
      into.setCount(count);
      return;
    }
    int count = elements(in, field, maxItems);
    long[] hashes = into.hashesWithRoom(count);
    for (int i = 0; i < count; i++) {
      if (in.kind() != Kind.INTEGER) {
        throw MsgpackValues.wrongType(in, field, i, "a 64-bit integer");
      }
      hashes[i] = in.integer();
    }
    into.setCount(count);
  }

  private static int elements(MsgpackCursor in, String field, int maxItems) {
    if (in.kind() != Kind.ARRAY) {
      throw MsgpackValues.wrongType(in, field, ErrorCode.NO_INDEX, "an array or bytes");
    }
    return notTooMany(in.arrayLength(), field, maxItems);
  }

  private static int counted(int bytes, int each, String field, int maxItems) {
    if (bytes % each != 0) {
      throw ErrorCode.INVALID_VALUE.member(
          field, "must have a multiple of " + each + " bytes, got " + bytes);
    }
    return notTooMany(bytes / each, field, maxItems);
  }

  private static int notTooMany(int count, String field, int maxItems) {
    if (count > maxItems) {
      throw ErrorCode.TOO_MANY_ITEMS.element(
          field, maxItems, "`" + field + "` has more than " + maxItems + " elements");
    }
    return count;
  }
}
