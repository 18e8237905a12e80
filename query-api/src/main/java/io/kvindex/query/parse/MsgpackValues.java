// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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
      throw wrongType(in, field, ErrorCode.NO_INDEX, "a string");
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
      throw ErrorCode.INVALID_VALUE.member(field, "is no UTF-8");
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
    long size = integer(in, field);
    if (size < 1 || size > QueryBody.MAX_BLOCK_SIZE) {
      throw outOfRange(in, size, field, ErrorCode.NO_INDEX, "1 to " + QueryBody.MAX_BLOCK_SIZE);
    }
    return (int) size;
  }

  static ApiException wrongType(MsgpackCursor in, String field, int index, String wanted) {
    return ErrorCode.INVALID_TYPE.mustBe(field, index, wanted, in.kind().text);
  }

  static ApiException outOfRange(
      MsgpackCursor in, long value, String field, int index, String wanted) {
    String got = in.isUnsigned() ? Long.toUnsignedString(value) : Long.toString(value);
    return ErrorCode.OUT_OF_RANGE.mustBe(field, index, wanted, got);
  }

  static ApiException unknown(String field) {
    String name = ErrorCode.echo(field);
    return ErrorCode.UNKNOWN_FIELD.of(name, "unknown field `" + name + "`");
  }

  /** The name of a map's member. */
  static String name(MsgpackCursor in) {
    if (in.kind() != Kind.STRING) {
      throw noName(in);
    }
    return in.string();
  }

  static ApiException noName(MsgpackCursor in) {
    return ErrorCode.INVALID_MSGPACK.because(
        "names of members must be strings, got " + in.kind().text);
  }

  /**
   * {@code {"instance_id": ..., "dp_rank": 0, "event_id": n}}; as strict as these bodies are
   * everywhere. The C++ Conductor does not know it.
   */
  static MinEvent minEvent(MsgpackCursor in) {
    if (in.kind() != Kind.MAP) {
      throw wrongType(in, MinEvent.FIELD, ErrorCode.NO_INDEX, "a map");
    }
    @Nullable String instance = null;
    @Nullable Long event = null;
    int rank = 0;
    for (int left = in.mapLength(); left > 0; left--) {
      String name = name(in);
      String field = MinEvent.FIELD + "." + name;
      switch (name) {
        case "instance_id" -> instance = instance(in, field);
        case "dp_rank" -> rank = rank(in, field);
        case "event_id" -> event = event(in, field);
        default -> throw unknown(field);
      }
    }
    return MinEvent.of(instance, rank, event);
  }

  /** A number will do, as in JSON. */
  private static String instance(MsgpackCursor in, String field) {
    if (in.kind() == Kind.INTEGER) {
      long number = in.integer();
      return in.isUnsigned() ? Long.toUnsignedString(number) : Long.toString(number);
    }
    if (in.kind() != Kind.STRING) {
      throw wrongType(in, field, ErrorCode.NO_INDEX, "a string");
    }
    return whole(in, in.string(), field);
  }

  private static int rank(MsgpackCursor in, String field) {
    long value = integer(in, field);
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw outOfRange(in, value, field, ErrorCode.NO_INDEX, "a rank");
    }
    return (int) value;
  }

  /** As 64 bits without a sign. */
  private static long event(MsgpackCursor in, String field) {
    long value = integer(in, field);
    if (value < 0 && !in.isUnsigned()) {
      throw outOfRange(in, value, field, ErrorCode.NO_INDEX, MinEvent.RANGE);
    }
    return value;
  }

  private static long integer(MsgpackCursor in, String field) {
    if (in.kind() != Kind.INTEGER) {
      throw wrongType(in, field, ErrorCode.NO_INDEX, "an integer");
    }
    return in.integer();
  }
}
