// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A position in msgpack bytes. Two kinds of movement: {@link #skip()} checks the structure of a
 * whole value and steps over it; the read methods then visit values known to be sound and complain
 * only about types ({@link MalformedEvent}). For one thread.
 */
final class MsgPackCursor {

  /** Deepest nesting of arrays and maps inside a skipped value. */
  static final int MAX_DEPTH = 64;

  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Bytes a value takes with its head, where the head alone decides it; else 0. */
  private static final byte[] SIZE = new byte[256];

  /** An integer of 32 bits. */
  private static final int LONGEST_ID = 5;

  /** A string of 31 bytes. */
  private static final int LONGEST_FIXED = 32;

  static {
    for (int head = 0; head < SIZE.length; head++) {
      SIZE[head] = (byte) sizeOf(head);
    }
  }

  private final byte[] bytes;
  private final int limit;
  private int at;

  MsgPackCursor(byte[] bytes, int from, int limit) {
    this.bytes = bytes;
    this.at = from;
    this.limit = limit;
  }

  private static int sizeOf(int head) {
    if (head >= 0xa0 && head <= 0xbf) {
      return 1 + (head & 0x1f);
    }
    return switch (head) {
      case 0xcc, 0xd0 -> 2;
      case 0xcd, 0xd1, 0xd4 -> 3;
      case 0xd5 -> 4;
      case 0xca, 0xce, 0xd2 -> 5;
      case 0xd6 -> 6;
      case 0xcb, 0xcf, 0xd3 -> 9;
      case 0xd7 -> 10;
      case 0xd8 -> 18;
      case 0x80, 0x90, 0xc0, 0xc2, 0xc3 -> 1;
      default -> head <= 0x7f || head >= 0xe0 ? 1 : 0;
    };
  }

  int position() {
    return at;
  }

  void seek(int position) {
    at = position;
  }

  boolean atEnd() {
    return at == limit;
  }

  byte[] bytes() {
    return bytes;
  }

  /** A cursor over {@code length} bytes from here on, as if they were all there is. */
  MsgPackCursor slice(int length) {
    return new MsgPackCursor(bytes, at, at + length);
  }

  MsgPackType peek() {
    require(1);
    return MsgPackType.of(bytes[at] & 0xff);
  }

  boolean nextIsNil() {
    return peek() == MsgPackType.NIL;
  }

  /**
   * Steps over one value.
   *
   * @throws StructureFault if it is cut short, nested too deep or no msgpack
   */
  void skip() {
    skip(1, 0);
  }

  /**
   * Steps over one value; if it is a list, what is said of the ids it begins with is found on the
   * way.
   *
   * @return how many those are that are integers of 32 bits at most, unsigned
   * @throws StructureFault as {@link #skip()}
   */
  int skipIds() {
    if (peek() != MsgPackType.ARRAY) {
      skip();
      return 0;
    }
    int count = readArrayHeader();
    byte[] from = bytes;
    int end = limit - LONGEST_ID;
    int position = at;
    int ids = 0;
    for (; ids < count && position <= end; ids++) {
      int head = from[position] & 0xff;
      if (head <= 0x7f) {
        position++;
      } else if (head >= 0xcc && head <= 0xce) {
        position += SIZE[head];
      } else {
        break;
      }
    }
    at = position;
    skip(count - ids, 1);
    return ids;
  }

  private void skip(long values, int depth) {
    long left = values;
    while (true) {
      left = skipFixed(left);
      if (left == 0) {
        return;
      }
      require(1);
      int size = SIZE[bytes[at] & 0xff];
      if (size == 0) {
        skipVariable(depth);
      } else {
        require(size);
        at += size;
      }
      left--;
    }
  }

  /**
   * Steps over values whose head says how long they are, as long as the longest of them would fit:
   * the ids of a batch are nearly all there is to step over.
   *
   * @return how many are left
   */
  private long skipFixed(long values) {
    byte[] from = bytes;
    int end = limit - LONGEST_FIXED;
    int position = at;
    long left = values;
    for (; left > 0 && position <= end; left--) {
      int size = SIZE[from[position] & 0xff];
      if (size == 0) {
        break;
      }
      position += size;
    }
    at = position;
    return left;
  }

  private void skipVariable(int depth) {
    switch (peek()) {
      case ARRAY -> skipContainer(readArrayHeader(), depth);
      case MAP -> skipContainer(2L * readMapHeader(), depth);
      case STR, BIN -> {
        int length = readRawHeader();
        at += length;
      }
      case EXT -> skipExt();
      default -> throw new StructureFault(RejectReason.NOT_MSGPACK);
    }
  }

  private void skipContainer(long values, int depth) {
    if (depth == MAX_DEPTH) {
      throw new StructureFault(RejectReason.TOO_DEEP);
    }
    skip(values, depth + 1);
  }

  private void skipExt() {
    int width = 1 << ((bytes[at] & 0xff) - 0xc7);
    require(1 + width);
    long length = unsignedAt(at + 1, width) + 1; // one byte for the ext type
    at += 1 + width;
    require(length);
    at += (int) length;
  }

  /** Number of elements, each of which takes at least one of the bytes left. */
  int readArrayHeader() {
    return readCount(MsgPackType.ARRAY, 0xdc, 1);
  }

  /** Number of entries, each of which takes at least two of the bytes left. */
  int readMapHeader() {
    return readCount(MsgPackType.MAP, 0xde, 2);
  }

  private int readCount(MsgPackType type, int head16, int bytesEach) {
    requireType(type);
    int head = bytes[at] & 0xff;
    long count;
    if (head < head16) {
      count = head & 0x0f;
      at++;
    } else {
      int width = head == head16 ? Short.BYTES : Integer.BYTES;
      require(1 + width);
      count = unsignedAt(at + 1, width);
      at += 1 + width;
    }
    require(count * bytesEach);
    return (int) count;
  }

  /** Length of a str or bin; its first byte is next. */
  int readRawHeader() {
    int head = bytes[at] & 0xff;
    long length;
    if (head <= 0xbf && head >= 0xa0) {
      length = head & 0x1f;
      at++;
    } else {
      int width = 1 << (head >= 0xd9 ? head - 0xd9 : head - 0xc4);
      require(1 + width);
      length = unsignedAt(at + 1, width);
      at += 1 + width;
    }
    require(length);
    return (int) length;
  }

  /** What the key at the cursor stands for, null = nothing that is known; steps over it. */
  <T> @Nullable T readKey(NameTable<T> names) {
    if (peek() != MsgPackType.STR) {
      skip();
      return null;
    }
    int length = readRawHeader();
    T named = names.find(bytes, at, length);
    at += length;
    return named;
  }

  /** Any integer, as raw bits: unsigned ones of the top half come out negative. */
  long readLong() {
    int head = bytes[at++] & 0xff;
    long value;
    switch (head) {
      case 0xcc -> value = bytes[at++] & 0xff;
      case 0xcd -> {
        value = (short) SHORT.get(bytes, at) & 0xffff;
        at += Short.BYTES;
      }
      case 0xce -> {
        value = (int) INT.get(bytes, at) & 0xffff_ffffL;
        at += Integer.BYTES;
      }
      case 0xcf, 0xd3 -> {
        value = (long) LONG.get(bytes, at);
        at += Long.BYTES;
      }
      case 0xd0 -> value = bytes[at++];
      case 0xd1 -> {
        value = (short) SHORT.get(bytes, at);
        at += Short.BYTES;
      }
      case 0xd2 -> {
        value = (int) INT.get(bytes, at);
        at += Integer.BYTES;
      }
      default -> {
        if (head > 0x7f && head < 0xe0) {
          throw new MalformedEvent();
        }
        value = (byte) head;
      }
    }
    return value;
  }

  /** An integer from 0 to {@code max}, or -1 if it is another one. */
  long readUpTo(long max) {
    long value = readLong();
    return value < 0 || value > max ? -1 : value;
  }

  /**
   * Reads integers of 32 bits at most, unsigned, known to be such, as many as there is room for.
   */
  void readIds(int[] values) {
    byte[] from = bytes;
    int position = at;
    for (int i = 0; i < values.length; i++) {
      int head = from[position] & 0xff;
      if (head <= 0x7f) {
        values[i] = head;
        position++;
      } else if (head == 0xce) {
        values[i] = (int) INT.get(from, position + 1);
        position += 1 + Integer.BYTES;
      } else if (head == 0xcd) {
        values[i] = (short) SHORT.get(from, position + 1) & 0xffff;
        position += 1 + Short.BYTES;
      } else {
        at = position;
        values[i] = (int) readLong();
        position = at;
      }
    }
    at = position;
  }

  /** A float of either width. */
  double readDouble() {
    requireType(MsgPackType.FLOAT);
    boolean wide = (bytes[at++] & 0xff) == 0xcb;
    double value =
        wide
            ? Double.longBitsToDouble((long) LONG.get(bytes, at))
            : Float.intBitsToFloat((int) INT.get(bytes, at));
    at += wide ? Long.BYTES : Integer.BYTES;
    return value;
  }

  private long unsignedAt(int position, int width) {
    return switch (width) {
      case 1 -> bytes[position] & 0xff;
      case 2 -> (short) SHORT.get(bytes, position) & 0xffff;
      default -> (int) INT.get(bytes, position) & 0xffff_ffffL;
    };
  }

  private void requireType(MsgPackType type) {
    if (peek() != type) {
      throw new MalformedEvent();
    }
  }

  private void require(long more) {
    if (more > limit - at) {
      throw new StructureFault(RejectReason.TRUNCATED);
    }
  }
}
