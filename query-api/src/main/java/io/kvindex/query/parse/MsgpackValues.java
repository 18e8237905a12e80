// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import java.util.Arrays;

/** Single values of MessagePack query bodies, and the words for what is wrong with one. */
final class MsgpackValues {
  /** As many names as a query has; the last text of each is kept, since queries repeat them. */
  private final String[] lastTexts;

  MsgpackValues(int fields) {
    lastTexts = new String[fields];
    Arrays.fill(lastTexts, "");
  }

  /**
   * The string that begins here; the one read last if it is the same.
   *
   * @param slot where to remember it
   */
  String text(MsgpackCursor in, String field, int slot) {
    if (in.kind() != Kind.STRING) {
      throw wrongType(in, field, ApiException.NO_INDEX, "a string");
    }
    int length = in.byteLength();
    int from = in.at();
    in.moveTo(from + length);
    if (isAscii(lastTexts[slot], in.bytes(), from, length)) {
      return lastTexts[slot];
    }
    lastTexts[slot] = whole(in, in.decoded(from, length), field);
    return lastTexts[slot];
  }

  /** A text just read, which must have been UTF-8. */
  static String whole(MsgpackCursor in, String text, String field) {
    if (in.isBroken()) {
      throw ApiException.field(ErrorCode.INVALID_VALUE, field, "`" + field + "` is no UTF-8");
    }
    return text;
  }

  private static boolean isAscii(String text, byte[] bytes, int from, int length) {
    if (text.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (text.charAt(i) != bytes[from + i]) {
        return false; // a byte beyond ASCII is negative and equals no character
      }
    }
    return true;
  }

  static int blockSize(MsgpackCursor in, String field) {
    if (in.kind() != Kind.INTEGER) {
      throw wrongType(in, field, ApiException.NO_INDEX, "an integer");
    }
    long size = in.integer();
    if (size < 1 || size > QueryBody.MAX_BLOCK_SIZE) {
      throw outOfRange(in, size, field, ApiException.NO_INDEX, "1 to " + QueryBody.MAX_BLOCK_SIZE);
    }
    return (int) size;
  }

  static ApiException wrongType(MsgpackCursor in, String field, int index, String wanted) {
    return ApiException.mustBe(ErrorCode.INVALID_TYPE, field, index, wanted, in.kind().text);
  }

  static ApiException outOfRange(
      MsgpackCursor in, long value, String field, int index, String wanted) {
    String got = in.isUnsigned() ? Long.toUnsignedString(value) : Long.toString(value);
    return ApiException.mustBe(ErrorCode.OUT_OF_RANGE, field, index, wanted, got);
  }

  static ApiException unknown(String field) {
    String name = ApiException.echo(field);
    return ApiException.field(ErrorCode.UNKNOWN_FIELD, name, "unknown field `" + name + "`");
  }

  /** The name of a map's member. */
  static String name(MsgpackCursor in) {
    if (in.kind() != Kind.STRING) {
      throw noName(in);
    }
    return in.string();
  }

  static ApiException noName(MsgpackCursor in) {
    return ApiException.of(
        ErrorCode.INVALID_MSGPACK, "names of members must be strings, got " + in.kind().text);
  }
}
