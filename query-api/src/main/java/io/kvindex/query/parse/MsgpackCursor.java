// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A place in a MessagePack body. Never allocates from a declared length: each element takes a byte
 * at least, so a count beyond what is left is malformed. Reused; one thread at a time. Source: the
 * MessagePack specification, formats.
 */
final class MsgpackCursor {

  /** What kind of value a lead byte begins. */
  enum Kind {
    NIL("nil"),
    BOOL("a boolean"),
    INTEGER("an integer"),
    FLOAT("a float"),
    STRING("a string"),
    BINARY("bytes"),
    ARRAY("an array"),
    MAP("a map"),
    EXTENSION("an extension"),
    NEVER("nothing");

    final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);
  private static final char REPLACEMENT = '\ufffd';
  private static final Kind[] KINDS = kinds();

  private byte[] bytes = {};
  private int at;
  private int end;

  /** Whether the integer read last is beyond the signed 64 bits it was returned in. */
  private boolean unsigned;

  private boolean broken;

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.BIG_ENDIAN);
  }

  private static Kind[] kinds() {
    Kind[] kinds = new Kind[256];
    for (int lead = 0; lead < kinds.length; lead++) {
      kinds[lead] = kind(lead);
    }
    return kinds;
  }

  private static Kind kind(int lead) {
    if (lead < 0xC0) {
      return lead < 0x80 ? Kind.INTEGER : lead < 0x90 ? Kind.MAP : fixed(lead);
    }
    return switch (lead) {
      case 0xC0 -> Kind.NIL;
      case 0xC1 -> Kind.NEVER;
      case 0xC2, 0xC3 -> Kind.BOOL;
      case 0xC4, 0xC5, 0xC6 -> Kind.BINARY;
      case 0xCA, 0xCB -> Kind.FLOAT;
      case 0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8 -> Kind.EXTENSION;
      case 0xD9, 0xDA, 0xDB -> Kind.STRING;
      case 0xDC, 0xDD -> Kind.ARRAY;
      case 0xDE, 0xDF -> Kind.MAP;
      default -> Kind.INTEGER;
    };
  }

  private static Kind fixed(int lead) {
    return lead < 0xA0 ? Kind.ARRAY : Kind.STRING;
  }

  /** Begins at the first of {@code length} bytes. */
  void begin(byte[] body, int length) {
    bytes = body;
    at = 0;
    end = length;
  }

  byte[] bytes() {
    return bytes;
  }

  int at() {
    return at;
  }

  int end() {
    return end;
  }

  /** Goes on elsewhere: what lies between was read by somebody else. */
  void moveTo(int position) {
    if (position > end) {
      throw malformed();
    }
    at = position;
  }

  /** Kind of the value that begins here. */
  Kind kind() {
    if (at >= end) {
      throw malformed();
    }
    Kind kind = KINDS[bytes[at] & 0xFF];
    if (kind == Kind.NEVER) {
      throw malformed();
    }
    return kind;
  }

  /** The integer that begins here, its low 64 bits; see {@link #isUnsigned}. */
  long integer() {
    int lead = bytes[at++] & 0xFF;
    unsigned = false;
    if (lead < 0xCC || lead > 0xD3) {
      return (byte) lead;
    }
    int width = 1 << (lead & 3);
    long value = wide(width);
    if (lead < 0xD0) {
      unsigned = value < 0;
      return value;
    }
    int beyond = Long.SIZE - Byte.SIZE * width;
    return value << beyond >> beyond;
  }

  /** The number without a sign behind a lead byte; its bits where it takes all eight bytes. */
  private long wide(int width) {
    int from = take(width);
    return switch (width) {
      case 1 -> bytes[from] & 0xFF;
      case 2 -> (short) SHORT.get(bytes, from) & 0xFFFF;
      case 4 -> (int) INT.get(bytes, from) & 0xFFFF_FFFFL;
      default -> (long) LONG.get(bytes, from);
    };
  }

  /** Whether the last integer is 2^63 or more. */
  boolean isUnsigned() {
    return unsigned;
  }

  /** The truth value that begins here. */
  boolean bool() {
    return bytes[at++] == (byte) 0xC3;
  }

  /** The floating-point number that begins here. */
  double real() {
    return bytes[at++] == (byte) 0xCA
        ? Float.intBitsToFloat((int) INT.get(bytes, take(4)))
        : Double.longBitsToDouble((long) LONG.get(bytes, take(8)));
  }

  void nil() {
    at++;
  }

  /** Length in bytes of the string or bytes that begin here; moves to the first of them. */
  int byteLength() {
    int lead = bytes[at++] & 0xFF;
    if (lead < 0xC0) {
      return atMost(lead & 0x1F, end - at);
    }
    return atMost(wide(1 << lead - (lead < 0xD9 ? 0xC4 : 0xD9)), end - at);
  }

  /** The string that begins here; broken UTF-8 is replaced, see {@link #isBroken}. */
  String string() {
    int length = byteLength();
    return decoded(take(length), length);
  }

  /** A string somebody has passed already, otherwise the same. */
  String decoded(int from, int length) {
    String text = new String(bytes, from, length, StandardCharsets.UTF_8);
    broken = false;
    if (text.indexOf(REPLACEMENT) >= 0) {
      byte[] written = text.getBytes(StandardCharsets.UTF_8);
      broken = !Arrays.equals(written, 0, written.length, bytes, from, from + length);
    }
    return text;
  }

  /** Whether the last string was no UTF-8: another one may look the same. */
  boolean isBroken() {
    return broken;
  }

  /** Elements of the array that begins here; moves to the first of them. */
  int arrayLength() {
    int lead = bytes[at++] & 0xFF;
    return atMost(lead < 0xA0 ? lead & 0xF : wide(2 << lead - 0xDC), end - at);
  }

  /** Members of the map that begins here; moves to the first key. */
  int mapLength() {
    int lead = bytes[at++] & 0xFF;
    return atMost(lead < 0x90 ? lead & 0xF : wide(2 << lead - 0xDE), (end - at) / 2);
  }

  /** Passes the value that begins here, however deep it is. */
  void skip() {
    for (long values = 1; values > 0; values--) {
      switch (kind()) {
        case INTEGER -> integer();
        case FLOAT -> real();
        case STRING, BINARY -> take(byteLength());
        case ARRAY -> values += arrayLength();
        case MAP -> values += 2L * mapLength();
        case EXTENSION -> extension();
        default -> at++;
      }
    }
  }

  private void extension() {
    int lead = bytes[at++] & 0xFF;
    long length = lead <= 0xC9 ? wide(1 << lead - 0xC7) : 1L << (lead - 0xD4);
    take(1 + atMost(length, end - at));
  }

  /** Passes bytes; the position of the first of them. */
  private int take(int count) {
    if (count > end - at) {
      throw malformed();
    }
    int from = at;
    at += count;
    return from;
  }

  private static int atMost(long count, int possible) {
    if (count > possible) {
      throw malformed();
    }
    return (int) count;
  }

  /** Worded as the C++ Conductor does. */
  static ApiException malformed() {
    return ErrorCode.INVALID_MSGPACK.because("Invalid msgpack object");
  }

  /** The same for a body that is another kind of value. */
  static ApiException notAMap() {
    return ErrorCode.INVALID_MSGPACK.because("request body must be a msgpack map");
  }
}
